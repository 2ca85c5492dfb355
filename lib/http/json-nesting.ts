const quote = 0x22;
const backslash = 0x5c;
// Brackets are one bit away from braces.
const braceBit = 0x20;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Returns how many levels JSON text nests, and whether all are closed. It counts brackets without allocation or
 * recursion, and does not check the JSON.
 */
export function jsonNesting(text: string): { readonly deepest: number; readonly closed: boolean } {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if ((code | braceBit) === openBrace) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if ((code | braceBit) === closeBrace) {
      depth -= 1;
    }
  }
  return { deepest, closed: depth === 0 };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}
