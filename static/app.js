// What the browser cannot do by itself. Every page works without this file.
"use strict";

// A form that is on its way is not sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
  if (form.matches("[data-pieces]")) return sendInPieces(form, event);
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

// Files that are sent piece by piece. What has arrived stays when the connection is lost, and when the page is closed: whoever
// begins to send the same file again hears how far it is.
const PIECE = 4 * 1024 * 1024;
const FILES_AT_ONCE = 2;
// Seconds before something is tried again; after the last, somebody has to ask for it.
const PAUSES = [1, 2, 4, 8, 15, 30];

// What was wrong, and whether trying again would change nothing.
const failure = (sentence, isRefusal, status) => Object.assign(new Error(sentence), { isRefusal, status });

// A request of the form; `headers` and the rest as `fetch` takes them.
async function ask(form, address, { headers, ...request }) {
  const own = { "X-CSRF-Token": form.elements.csrf.value, Accept: "text/plain" };
  const answer = await fetch(address, { ...request, headers: { ...own, ...headers } });
  // A piece that was sent to the wrong place is sent to the right one next; an upload that is gone begins anew.
  if (answer.ok || answer.status === 409) return answer;
  const { status } = answer;
  throw failure((await answer.text()).trim(), (status < 500 && status !== 404) || status === 507, status);
}

// Seconds, or until the connection is back, or until it is canceled.
function pause(seconds, signal) {
  return new Promise((over) => {
    setTimeout(over, seconds * 1000);
    addEventListener("online", over, { once: true, signal });
    signal.addEventListener("abort", over, { once: true });
  });
}

// Does something until it works. `act` is given what to call whenever it gets on.
async function persist(act, say, signal) {
  let failures = 0;
  for (;;) {
    try {
      return await act(() => (failures = 0));
    } catch (error) {
      if (signal.aborted || error.isRefusal) throw error;
      if (failures === PAUSES.length) throw failure("Connection lost. What was uploaded is kept.", false);
      const seconds = PAUSES[failures++];
      say(`Connection lost. Trying again in ${seconds} s.`);
      await pause(seconds, signal);
    }
  }
}

// Sends one file, from where it is.
function sendFile(form, upload) {
  const { file, canceled: { signal } } = upload;
  const arrived = (answer) => Number(answer.headers.get("Upload-Offset"));
  return persist(async (gotOn) => {
    const body = new URLSearchParams({ name: file.name, size: file.size, modified: file.lastModified });
    const begun = await ask(form, form.dataset.pieces, { method: "POST", body, signal });
    upload.at = begun.headers.get("Location");
    document.querySelector(`[data-upload-at="${upload.at}"]`)?.remove();
    let offset = arrived(begun);
    upload.say(offset ? `Resumed at ${upload.show(offset)}.` : "");
    while (offset < file.size) {
      const piece = await file.slice(offset, offset + PIECE).arrayBuffer().catch(() => {
        throw failure("The file was changed or moved. Choose it again.", true);
      });
      const headers = { "Upload-Offset": offset };
      offset = arrived(await ask(form, upload.at, { method: "PATCH", headers, body: piece, signal }));
      upload.show(offset);
      gotOn();
    }
    upload.show(offset);
  }, upload.say, signal);
}

function sendInPieces(form, event) {
  event.preventDefault();
  const panel = document.getElementById("uploads");
  const [line, list] = [panel.querySelector("p"), panel.querySelector("ul")];
  const [words, cancelAll] = line.children;
  const controls = [form.elements.files, form.querySelector("button")];
  const uploads = [...form.elements.files.files].map(row);
  let [working, isOver] = [0, false];

  // The state of an upload: waiting, sending, stopped, done or canceled.
  const inState = (...states) => uploads.filter(({ state }) => states.includes(state));

  function row(file) {
    const item = panel.querySelector("template").content.cloneNode(true).firstElementChild;
    const [name, bar, percent, says, ways] = item.children;
    const [resume, cancel] = ways.children;
    const upload = { file, state: "waiting", canceled: new AbortController(), item, resume };
    upload.say = (sentence) => (says.textContent = sentence);
    upload.show = (offset) => {
      bar.value = file.size ? Math.floor((100 * offset) / file.size) : 100;
      return (percent.textContent = `${bar.value}%`);
    };
    upload.to = (state, sentence) => {
      upload.state = state;
      upload.say(sentence);
      cancel.hidden = state === "done" || state === "canceled";
    };
    name.textContent = file.name;
    bar.setAttribute("aria-label", `Upload of ${file.name}`);
    for (const button of [resume, cancel]) button.setAttribute("aria-label", `${button.textContent} ${file.name}`);
    upload.show(0);
    upload.say("Waiting");
    resume.addEventListener("click", () => {
      resume.hidden = true;
      cancel.focus();
      upload.to("waiting", "Waiting");
      work();
    });
    cancel.addEventListener("click", () => {
      stop(upload);
      item.tabIndex = -1;
      item.focus();
      settle();
    });
    return upload;
  }

  function stop(upload) {
    upload.canceled.abort();
    if (upload.at) ask(form, upload.at, { method: "DELETE", keepalive: true }).catch(() => {});
    upload.resume.hidden = true;
    upload.to("canceled", "Canceled");
  }

  function work() {
    for (; working < FILES_AT_ONCE && inState("waiting").length; working++) next(inState("waiting")[0]);
    settle();
  }

  async function next(upload) {
    upload.to("sending", "");
    try {
      await sendFile(form, upload);
      upload.to("done", "Uploaded");
    } catch (error) {
      if (upload.state === "sending") {
        upload.to("stopped", error.message);
        // What is too large stays so; space can be made, and a connection comes back.
        upload.resume.hidden = error.isRefusal && error.status !== 507;
      }
    }
    working--;
    work();
  }

  // Shows the progress of all files, and continues once none is missing.
  function settle() {
    if (isOver) return;
    const [done, left] = [inState("done"), inState("waiting", "sending", "stopped")];
    const sent = uploads.length - inState("canceled").length;
    words.textContent = `${done.length} of ${sent} ${sent === 1 ? "file" : "files"} uploaded. Keep this page open.`;
    cancelAll.hidden = !left.length;
    if (left.length) return;
    if (done.length) return handOver(done);
    end("Upload canceled. Nothing was imported.");
  }

  async function handOver(done) {
    isOver = true;
    const body = new URLSearchParams(done.map(({ at }) => ["upload", at.split("/").pop()]));
    if (form.elements.review?.checked) body.append("review", "yes");
    const { signal } = new AbortController();
    try {
      const batch = await persist(async () => {
        const asked = ask(form, `${form.dataset.pieces}/import`, { method: "POST", body });
        // They are gone where they were handed over, and only the answer was lost: the page of imports shows them.
        const answer = await asked.catch((error) => {
          if (error.status === 404) return { url: form.action };
          throw error;
        });
        return answer.url;
      }, (sentence) => (words.textContent = sentence), signal);
      end("");
      location.assign(batch);
    } catch (error) {
      end(error.message);
    }
  }

  function end(sentence) {
    isOver = true;
    words.textContent = sentence;
    cancelAll.hidden = true;
    for (const control of controls) control.disabled = false;
    delete form.dataset.sent;
  }

  cancelAll.onclick = () => {
    inState("waiting", "sending", "stopped", "done").forEach(stop);
    settle();
  };
  for (const control of controls) control.disabled = true;
  for (const old of list.querySelectorAll("li:not([data-upload-at])")) old.remove();
  list.prepend(...uploads.map(({ item }) => item));
  panel.hidden = line.hidden = false;
  work();
}

// What was begun earlier can be canceled without choosing its file again.
for (const item of document.querySelectorAll("[data-upload-at]")) {
  const cancel = item.querySelector("[data-cancel]");
  cancel.hidden = false;
  cancel.addEventListener("click", async () => {
    const form = document.querySelector("[data-pieces]");
    await ask(form, item.dataset.uploadAt, { method: "DELETE" }).catch(() => {});
    item.remove();
    form.elements.files.focus();
  });
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

// A form that is shown anew at each change keeps what was typed while the answer was on its way, and a text whose field went away
// comes back with it.
const texts = new Map();
let keystrokes = new Map();
let shown = new Set();
const isText = (field) => field.matches("input:not([type=hidden], [type=checkbox], [type=radio], [type=file])");

document.addEventListener("input", ({ target }) => {
  if (target.form?.matches("[data-keeps-typing]") && target.name && isText(target)) keystrokes.set(target.name, target.value);
});
document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (!target.matches("[data-keeps-typing]")) return;
  for (const field of target.elements) if (field.name && isText(field)) texts.set(field.name, field.value);
  keystrokes = new Map();
  shown = new Set([...target.elements].map(({ name }) => name));
});
// At once, before another change is sent.
document.addEventListener("htmx:afterSwap", ({ target }) => {
  const form = target.closest?.("[data-keeps-typing]");
  if (!form) return;
  let isBack = false;
  for (const field of form.elements) {
    if (!field.name || !isText(field)) continue;
    if (keystrokes.has(field.name)) {
      field.value = keystrokes.get(field.name);
      isBack = true;
    } else if (!shown.has(field.name) && !field.value && texts.get(field.name)) {
      field.value = texts.get(field.name);
      isBack = true;
    }
  }
  keystrokes = new Map();
  shown = new Set([...form.elements].map(({ name }) => name));
  if (isBack) form.dispatchEvent(new Event("change", { bubbles: true }));
});
