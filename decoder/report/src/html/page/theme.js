// The switch between light and dark. Without a choice, the browser's setting counts.
"use strict";

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function showTheme() {
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  document.dispatchEvent(new Event("themechange"));
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  // Pages from disk may not be allowed to remember anything.
  try { localStorage.setItem("hartrace-theme", document.documentElement.dataset.theme); } catch { /* as it is */ }
  showTheme();
}

try {
  const remembered = localStorage.getItem("hartrace-theme");
  if (remembered) document.documentElement.dataset.theme = remembered;
} catch { /* as the browser is set */ }

document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", switchTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  showTheme();
});
