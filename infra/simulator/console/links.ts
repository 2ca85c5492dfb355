import endings from './domain-endings.json' with { type: 'json' };

/* The app makes links of web and mail addresses and phone numbers. Which endings make a bare word a link is our
   reading: the app publishes no list. */

export interface Link {
  readonly kind: 'link';
  readonly text: string;
  /** Only a web address leads somewhere; an empty text only looks like a link. */
  readonly href: string;
}

const known: ReadonlySet<string> = new Set(endings);
// Each sticky pattern is tried at one place, and backtracks only within bounds.
const address = /https?:\/\/[^\s<>"`]{1,2048}/iy;
const mail = /[a-z0-9][\w.+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w@-])/iy;
const domain = /(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w@-])(?:[/?#][^\s<>"`]{0,2048})?/iy;
const phone =
  /(?<!\d{3}[ -])(?!\d{4}-\d\d-\d\d(?!\d)|\d{1,2}-\d{1,2}-\d{2,4}(?!\d))[+(]{0,2}\d(?:[ ()-]{0,2}\d){6,14}(?![ ()-]{0,2}\d|\w|[.,]\d)/y;
const endsWord = /[\w@.+/$€£#%-]/;
const closing = new Set('.,;:!?\'"*_~)]}');

/** Finds the link that starts at the place, if any. */
export function linkAt(text: string, at: number): Link | undefined {
  const first = text.charCodeAt(at);
  // A link starts with an ASCII letter or digit, `+` or `(`.
  if (!isLetterOrDigit(first) && first !== 43 && first !== 40) return undefined;
  if (at > 0 && endsWord.test(text.charAt(at - 1))) return undefined;
  return webLink(text, at) ?? mailLink(text, at) ?? bareLink(text, at) ?? phoneLink(text, at);
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function webLink(text: string, at: number): Link | undefined {
  const found = withoutEnd(foundAt(address, text, at));
  const url = URL.parse(found);
  return url !== null && url.hostname !== '' && /^https?:$/.test(url.protocol)
    ? { kind: 'link', text: found, href: url.href }
    : undefined;
}

function mailLink(text: string, at: number): Link | undefined {
  const found = foundAt(mail, text, at);
  return found === '' ? undefined : { kind: 'link', text: found, href: '' };
}

/** A bare link is a lower-case word with a known ending: "Hola.Es" is a sentence without a space. */
function bareLink(text: string, at: number): Link | undefined {
  const found = withoutEnd(foundAt(domain, text, at));
  const host = found.split(/[/?#]/, 1)[0] ?? '';
  const ending = host.slice(host.lastIndexOf('.') + 1);
  if (!known.has(ending) && !(/^www\./i.test(host) && host.split('.').length > 2)) return undefined;
  const url = URL.parse(`https://${found}`);
  return url === null ? undefined : { kind: 'link', text: found, href: url.href };
}

function phoneLink(text: string, at: number): Link | undefined {
  const found = foundAt(phone, text, at);
  return found === '' ? undefined : { kind: 'link', text: found, href: '' };
}

function foundAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Removes punctuation at the end, and a closing parenthesis that the link did not open. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && closing.has(text.charAt(end - 1))) {
    if (text.charAt(end - 1) === ')' && text.includes('(')) break;
    end -= 1;
  }
  return text.slice(0, end);
}
