import { type Block, blocksOf, type Span } from './formatting.ts';

/** The cut is our reading (platform reference, 4.6): the app does not document it. */
export const longestShown: Room = { characters: 768, lines: 24 };

interface Room {
  readonly characters: number;
  readonly lines: number;
}

export interface Shown {
  readonly blocks: readonly Block[];
  readonly isCut: boolean;
}

/** Returns the part of a text above "Read more". Formatting marks do not count as characters. */
export function shownOf(text: string, { characters, lines } = longestShown): Shown {
  const left = { characters, lines };
  const all = blocksOf(text);
  const blocks: Block[] = [];
  for (const block of all) {
    if (left.characters <= 0 || left.lines <= 0) return { blocks, isCut: true };
    const cut = cutBlock(block, left);
    blocks.push(cut);
    if (cut !== block) return { blocks, isCut: true };
  }
  return { blocks, isCut: false };
}

interface Left {
  characters: number;
  lines: number;
}

function cutBlock(block: Block, left: Left): Block {
  if (block.kind === 'line' || block.kind === 'quote') {
    const spans = cutSpans(block.spans, left);
    left.lines -= 1;
    return spans === block.spans ? block : { ...block, spans };
  }
  const items: (readonly Span[])[] = [];
  for (const item of block.items) {
    if (left.characters <= 0 || left.lines <= 0) return { ...block, items };
    const spans = cutSpans(item, left);
    left.lines -= 1;
    items.push(spans);
    if (spans !== item) return { ...block, items };
  }
  return block;
}

function cutSpans(spans: readonly Span[], left: Left): readonly Span[] {
  const shown: Span[] = [];
  for (const span of spans) {
    if (left.characters <= 0) return shown;
    const cut = cutSpan(span, left);
    shown.push(cut);
    if (cut !== span) return shown;
  }
  return spans;
}

function cutSpan(span: Span, left: Left): Span {
  if (typeof span === 'string') return cutText(span, left);
  if (span.kind === 'link') {
    const text = cutText(span.text, left);
    return text === span.text ? span : { ...span, text };
  }
  const spans = cutSpans(span.spans, left);
  return spans === span.spans ? span : { ...span, spans };
}

/** Cuts at a line or between Unicode characters, and after a word when one ends nearby. */
function cutText(text: string, left: Left): string {
  const lines = text.split('\n');
  const shown = lines.length > left.lines ? lines.slice(0, left.lines).join('\n') : text;
  const characters = [...shown];
  const most = left.characters;
  left.characters -= characters.length;
  left.lines -= Math.min(lines.length, left.lines) - 1;
  if (characters.length <= most) return shown;
  const start = characters.slice(0, most);
  const space = start.findLastIndex((each) => /\s/.test(each));
  return start.slice(0, space > most - 40 && space > 0 ? space : most).join('');
}
