// A browser may forbid storage, or have no room left: then what would be kept lasts as long as the page.

export function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}
