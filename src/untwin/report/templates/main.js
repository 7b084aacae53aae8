// Starts the page; every module is small and says at its top what it does.
import { startInspector } from "./inspector.js";
import { startLists } from "./lists.js";
import { startMatrix } from "./matrix.js";
import { startSuspects } from "./suspects.js";

// The section that is read is marked in the navigation.
function markSections() {
  const links = new Map([...document.querySelectorAll("nav li a")].map((one) => [one.hash.slice(1), one]));
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      links.forEach((one) => one.removeAttribute("aria-current"));
      links.get(target.id).setAttribute("aria-current", "location");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  document.querySelectorAll("main section").forEach((one) => seen.observe(one));
}

startMatrix();
startSuspects();
startLists();
startInspector();
markSections();
document.documentElement.dataset.ready = "yes";
