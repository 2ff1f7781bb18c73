// What scripts say, in the page's language: the page brings the texts, and what it lacks is said in English.

const LANGUAGE = document.documentElement.lang || "en";
const brought = document.getElementById("tongue");
const WORDS = brought ? JSON.parse(brought.textContent) : {};
const PLURALS = new Intl.PluralRules(LANGUAGE);

// Everything that counts and measures is written with these digits: they are what fields take.
export const SPOKEN = `${LANGUAGE}-u-nu-latn`;

const filled = (text, values) => text.replace(/%\((\w+)\)s/g, (_all, name) => values[name]);

export const _ = (text, values = {}) => filled(WORDS[text] ?? text, values);

// The same of a number of things, which is %(num)s in both texts.
export function ngettext(one, many, number, values = {}) {
  const forms = WORDS[one] ?? { one, other: many };
  const form = WORDS[one] ? PLURALS.select(number) : number === 1 ? "one" : "other";
  return filled(forms[form] ?? forms.other, { num: new Intl.NumberFormat(SPOKEN).format(number), ...values });
}
