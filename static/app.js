// What the browser cannot do by itself. Every page works without this file.
"use strict";

// A form that is on its way is not sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
  if (form.matches("[data-upload]")) return send(form, event);
  setTimeout(() => delete form.dataset.sent, 4000);
});

// A page that comes back from the browser's memory can send its forms again.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// Open menus close when one clicks elsewhere or presses Escape.
const menus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("click", (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A link to a field opens what it is folded away in.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#f-"]');
  const field = link && document.getElementById(link.hash.slice(1));
  if (!field) return;
  for (let at = field.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  field.focus();
});

// A form that only asks needs no button: choosing is asking.
document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.matches("[data-submit-on-change]")) form.requestSubmit();
});
// Numbers of a table are added up while one types them.
for (const sum of document.querySelectorAll("[data-sum]")) {
  const fields = [...sum.closest("table").querySelectorAll("input[inputmode=decimal]")];
  const add = () => {
    const typed = fields.map((field) => field.value.replace("%", "").trim()).filter((text) => text);
    const total = typed.reduce((total, text) => total + Number(text), 0);
    sum.textContent = typed.length && Number.isFinite(total) ? String(+total.toFixed(10)) : "";
  };
  for (const field of fields) field.addEventListener("input", add);
}

// What is shown once can be copied, where the browser lets us.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// Files dropped on a form are chosen in it.
for (const form of document.querySelectorAll("form[data-upload]")) {
  const field = form.querySelector("input[type=file]");
  const over = (is) => form.classList.toggle("over", is);
  form.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  form.addEventListener("dragleave", (event) => { if (!form.contains(event.relatedTarget)) over(false); });
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}

// What an upload did, said by the page that it led to.
if (sessionStorage.getItem("flash")) {
  const flash = document.createElement("div");
  flash.className = "flash";
  flash.setAttribute("role", "status");
  flash.append(document.createElement("p"));
  flash.firstChild.textContent = sessionStorage.getItem("flash");
  sessionStorage.removeItem("flash");
  if (!document.querySelector(".flash")) document.querySelector("main")?.prepend(flash);
}

// An upload that shows how far it is, and then the page that it leads to.
function send(form, event) {
  event.preventDefault();
  const line = form.querySelector("[data-progress]");
  const [bar, words] = [line.querySelector("progress"), line.querySelector("span")];
  const request = new XMLHttpRequest();
  const stop = (sentence) => {
    words.textContent = sentence;
    delete form.dataset.sent;
  };
  line.hidden = false;
  bar.removeAttribute("value");
  words.textContent = "";
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html, text/plain");
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    const percent = Math.floor((100 * loaded) / total);
    bar.value = percent;
    words.textContent = loaded < total ? `${percent} % uploaded` : "Uploaded; reading";
  });
  request.addEventListener("error", () => stop("The connection broke off. Nothing was loaded; try again."));
  request.addEventListener("load", () => {
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    if (request.responseURL !== form.action || request.status < 400) {
      // The page was asked for already, and said there what was done: it would not say so again.
      const said = page.querySelector(".flash p");
      if (said) sessionStorage.setItem("flash", said.textContent);
      return location.assign(request.responseURL);
    }
    // What was refused is said in a list, a table, or beside the field; a page of errors says it in its first sentence.
    const said = [...page.querySelectorAll("main [role=alert] li, main .notice li, main .notice tbody tr, main .problem")];
    if (!said.length) said.push(page.querySelector("main p:not(.quiet)") || page.body);
    const text = (it) => (it.cells ? [...it.cells] : [it]).map((cell) => cell.textContent.trim()).join(" · ");
    const more = said.length > 5 ? ` And ${said.length - 5} more.` : "";
    stop(said.slice(0, 5).map((it) => (it.cells ? `Row ${text(it)}.` : text(it))).join(" ") + more);
  });
  request.send(new FormData(form));
}

// In a form whose answer follows, Enter means the next answer and not another page.
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Enter" || !field.matches?.("#edit input")) return;
  event.preventDefault();
  field.blur();
  field.focus();
});

// What was typed to keep an answer under is not part of the answer that takes its place.
const typed = new Map();
document.addEventListener("htmx:beforeSwap", () => {
  for (const field of document.querySelectorAll("#keep input:not([type=hidden])")) {
    if (field.value !== field.defaultValue) typed.set(field.id, field.value);
    else typed.delete(field.id);
  }
});
document.addEventListener("htmx:afterSwap", () => {
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (field) field.value = value;
  }
});

// What is wrong is told beside fields that stay as they are: they say so themselves, too.
document.addEventListener("htmx:afterSettle", (event) => {
  // Each place beside a field settles, too; the answer does so once.
  if (event.target.id !== "answer") return;
  for (const field of document.querySelectorAll("#edit [aria-describedby]")) {
    const said = document.getElementById(field.getAttribute("aria-describedby"));
    if (said?.querySelector(".problem")) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
});
