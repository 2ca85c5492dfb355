/*
 * The platform's formatting of a text: *bold*, _italic_, ~struck~, `code` and ```monospace```. What comes out is a tree of
 * words, never markup: a text is that of a stranger.
 */

export type Span = string | { readonly kind: 'bold' | 'italic' | 'struck' | 'code'; readonly spans: readonly Span[] };

const kinds = { '*': 'bold', _: 'italic', '~': 'struck' } as const;
// A mark holds when nothing but an edge or a sign is outside of it and no space inside of it.
const marked = /```([^`]+)```|`([^`\n]+)`|(?<![\w*_~])([*_~])(?!\s)([^\n]*?[^\s])\3(?![\w])/;
const deepest = 4;

export function spansOf(text: string, depth = 0): readonly Span[] {
  const found = depth < deepest ? marked.exec(text) : null;
  if (found === null) return text === '' ? [] : [text];
  const [whole, mono, code, mark = '', inside = ''] = found;
  const verbatim = mono ?? code;
  const span: Span =
    verbatim === undefined
      ? { kind: kinds[mark as keyof typeof kinds], spans: spansOf(inside, depth + 1) }
      : { kind: 'code', spans: [verbatim] };
  const before = text.slice(0, found.index);
  return [...(before === '' ? [] : [before]), span, ...spansOf(text.slice(found.index + whole.length), depth)];
}

/** The text without its marks. */
export function plainOf(text: string): string {
  const wordsOf = (span: Span): string => (typeof span === 'string' ? span : span.spans.map(wordsOf).join(''));
  return spansOf(text).map(wordsOf).join('');
}
