import { type Link, linkAt } from './links.ts';

/* The app formats *bold*, _italic_, ~struck~, `code`, ```monospace```, lists, quotes and links. Texts are untrusted, so
   the result is a tree, never markup. Parsing runs in linear time. */

export type Span =
  | string
  | Link
  | { readonly kind: 'bold' | 'italic' | 'struck' | 'code' | 'mono'; readonly spans: readonly Span[] };

/** A numbered list keeps its written first number. */
export type Block =
  | { readonly kind: 'line'; readonly spans: readonly Span[] }
  | { readonly kind: 'quote'; readonly spans: readonly Span[] }
  | { readonly kind: 'bullets'; readonly items: readonly (readonly Span[])[] }
  | { readonly kind: 'numbers'; readonly first: number; readonly items: readonly (readonly Span[])[] };

type Mark = keyof typeof kinds;
const kinds = { '*': 'bold', _: 'italic', '~': 'struck' } as const;
const fence = '```';
const isWord = (character: string) => /[\p{L}\p{N}_]/u.test(character);
const isSpace = (character: string) => character === '' || /\s/.test(character);

/** Parses a text into blocks; lines of one list form one block. */
export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let items: (readonly Span[])[] = [];
  for (const line of linesOf(text)) {
    const { kind, words, first } = beginningOf(line);
    const spans = spansOf(words);
    if (kind === 'line' || kind === 'quote') blocks.push({ kind, spans });
    else if (blocks.at(-1)?.kind === kind) items.push(spans);
    else {
      items = [spans];
      blocks.push(kind === 'bullets' ? { kind, items } : { kind, first, items });
    }
  }
  return blocks;
}

function beginningOf(line: string): { readonly kind: Block['kind']; readonly words: string; readonly first: number } {
  const [sign = '', number] = /^(?:[*-] |(\d{1,3})\. |> )(?=\S)/.exec(line) ?? [];
  const words = line.slice(sign.length);
  if (number !== undefined) return { kind: 'numbers', words, first: Number(number) };
  if (sign === '') return { kind: 'line', words, first: 0 };
  return { kind: sign === '> ' ? 'quote' : 'bullets', words, first: 0 };
}

/** Monospace may span lines: its line breaks do not split the text. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  let start = 0;
  let at = 0;
  let open = text.indexOf(fence);
  for (let line = text.indexOf('\n'); line >= 0; line = text.indexOf('\n', at)) {
    const close = open >= 0 && open < line ? text.indexOf(fence, open + fence.length) : -1;
    if (close < 0) {
      lines.push(text.slice(start, line));
      start = line + 1;
      at = start;
      // An unclosed fence is plain text.
      if (open >= 0 && open < line) open = -1;
    } else {
      at = close + fence.length;
      open = text.indexOf(fence, at);
    }
  }
  return [...lines, text.slice(start)];
}

interface Frame {
  readonly mark: Mark | '';
  readonly spans: Span[];
  readonly from: number;
}

/** Parses one line. A mark needs an edge or sign outside and no space inside. */
export function spansOf(text: string): readonly Span[] {
  const frames: Frame[] = [{ mark: '', spans: [], from: 0 }];
  const top = () => frames.at(-1) as Frame;
  let ticksEnd = false;
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    const verbatim = character === '`' && !ticksEnd ? verbatimAt(text, at) : undefined;
    if (verbatim === 'none follows') ticksEnd = true;
    const link = verbatim === undefined ? linkAt(text, at) : undefined;
    if (typeof verbatim === 'object') {
      add(top().spans, { kind: verbatim.kind, spans: [verbatim.text] });
      at = verbatim.end;
    } else if (link !== undefined) {
      add(top().spans, link);
      at += link.text.length;
    } else {
      if (!(character in kinds && marked(frames, text, at))) add(top().spans, character);
      at += 1;
    }
  }
  while (frames.length > 1) unmark(frames);
  return top().spans;
}

/** Opens or closes a mark; false means that it is plain text. */
function marked(frames: Frame[], text: string, at: number): boolean {
  const mark = text.charAt(at) as Mark;
  const before = text.charAt(at - 1);
  const after = text.charAt(at + 1);
  const opened = frames.findLast((frame) => frame.mark === mark);
  const isEdge = !isWord(after) || (after === '_' && frames.some((frame) => frame.mark === '_'));
  if (opened !== undefined && at > opened.from && !isSpace(before) && isEdge) {
    while (frames.at(-1) !== opened) unmark(frames);
    frames.pop();
    add((frames.at(-1) as Frame).spans, { kind: kinds[mark], spans: opened.spans });
    return true;
  }
  const opens =
    opened === undefined &&
    !isSpace(after) &&
    after !== mark &&
    (!isWord(before) || (at > 0 && frames.at(-1)?.from === at));
  if (opens) frames.push({ mark, spans: [], from: at + 1 });
  return opens;
}

/** Turns an unclosed mark back into text. There are three marks, so a span moves at most three times. */
function unmark(frames: Frame[]): void {
  const { mark, spans } = frames.pop() as Frame;
  const outer = (frames.at(-1) as Frame).spans;
  add(outer, mark);
  for (const span of spans) add(outer, span);
}

function add(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (typeof span === 'string' && typeof last === 'string') spans[spans.length - 1] = last + span;
  else spans.push(span);
}

interface Verbatim {
  readonly kind: 'code' | 'mono';
  readonly text: string;
  readonly end: number;
}

/** Returns the content between backticks, where nothing else is a mark. */
function verbatimAt(text: string, at: number): Verbatim | 'none follows' | undefined {
  for (const [ticks, kind] of [[fence, 'mono'] as const, ['`', 'code'] as const]) {
    if (!text.startsWith(ticks, at)) continue;
    const from = at + ticks.length;
    const end = text.indexOf(ticks, from);
    const inside = text.slice(from, Math.max(from, end));
    if (inside.trim() !== '') return { kind, text: inside, end: end + ticks.length };
    if (end < 0 && kind === 'code') return 'none follows';
  }
  return undefined;
}

export function plainOf(text: string): string {
  return blocksOf(text)
    .flatMap((block) => {
      if (block.kind === 'bullets') return block.items.map((item) => `• ${wordsOf(item)}`);
      if (block.kind === 'numbers') return block.items.map((item, at) => `${block.first + at}. ${wordsOf(item)}`);
      return wordsOf(block.spans);
    })
    .join('\n');
}

export function wordsOf(spans: readonly Span[]): string {
  return spans
    .map((span) => (typeof span === 'string' ? span : 'text' in span ? span.text : wordsOf(span.spans)))
    .join('');
}
