"""Pictures of users, laws and scores (extra ``report``)."""
