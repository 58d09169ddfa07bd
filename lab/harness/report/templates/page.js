const field = document.getElementById("find");
const tests = document.querySelectorAll(".test");
field.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  for (const each of tests) each.hidden = !each.dataset.words.includes(wanted);
});
field.parentElement.hidden = false;
