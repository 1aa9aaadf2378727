"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const key = "amble-sheet-" + data.id;
let said = {};
try { said = JSON.parse(localStorage.getItem(key)) || {}; } catch (error) { said = {}; }
const main = document.querySelector("main");
const articles = [];
let now = 0;

function add(parent, tag, text, className) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  parent.appendChild(made);
  return made;
}

function keep() {
  try { localStorage.setItem(key, JSON.stringify(said)); } catch (error) { /* a private window keeps nothing */ }
  document.getElementById("done").textContent = Object.keys(said).length + " of " + data.rows.length + " judged";
}

function look(i) {
  if (i < 0 || i >= articles.length) return;
  articles[now].classList.remove("now");
  now = i;
  articles[now].classList.add("now");
  articles[now].scrollIntoView({ block: "nearest" });
}

function say(i, grade) {
  if (grade === null) delete said[i]; else said[i] = grade;
  for (const input of articles[i].querySelectorAll("input")) input.checked = input.value === grade;
  keep();
}

let topic = null;
data.rows.forEach(function (row, i) {
  if (row[0] !== topic) {
    topic = row[0];
    add(main, "h2", "Topic " + topic);
    if (Object.hasOwn(data.topics, topic)) add(main, "div", data.topics[topic], "text");
  }
  const article = add(main, "article");
  articles.push(article);
  add(article, "strong", row[1]);
  if (Object.hasOwn(data.texts, row[1])) add(article, "div", data.texts[row[1]], "text");
  const line = add(article, "div");
  for (const [grade, name] of data.grades) {
    const label = add(line, "label");
    const input = add(label, "input");
    input.type = "radio";
    input.name = "row" + i;
    input.value = grade;
    input.addEventListener("change", function () { look(i); say(i, grade); });
    label.appendChild(document.createTextNode(" " + grade + (name ? " " + name : "")));
  }
  article.addEventListener("click", function () { look(i); });
  if (said[i] !== undefined) say(i, said[i]);
});

document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "ArrowDown") look(now + 1);
  else if (event.key === "ArrowUp") look(now - 1);
  else if (event.key === "Delete") say(now, null);
  else if (data.grades.some(function (pair) { return pair[0] === event.key; })) { say(now, event.key); look(now + 1); }
  else return;
  event.preventDefault();
});

function cell(text) {
  if (/^'*[=+@\t\r\n-]/.test(text)) text = "'" + text;  // no formula: see amble.judging.sheets
  return /[",;\t\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

document.getElementById("save").addEventListener("click", function () {
  const lines = ["topic,doc,grade"];
  data.rows.forEach(function (row, i) {
    lines.push(cell(row[0]) + "," + cell(row[1]) + "," + (said[i] === undefined ? "" : said[i]));
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  link.download = "judgments.csv";
  link.click();
});

keep();
if (articles.length) look(0);
