import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Block, blocksOf, type Span } from './formatting.ts';
import { shownOf } from './read-more.ts';

export function RichText({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const { blocks, isCut } = useMemo(
    () => (isOpen ? { blocks: blocksOf(text), isCut: false } : shownOf(text)),
    [text, isOpen],
  );
  // The pressed button disappears, so the text takes the focus.
  useEffect(() => {
    if (isOpen) whole.current?.focus();
  }, [isOpen]);
  return (
    <div class="bubble-text" dir="auto" ref={whole} tabIndex={isOpen ? -1 : undefined}>
      {blocks.map((block, at) => (
        <BlockText key={String(at)} block={block} />
      ))}
      {isCut ? (
        <p class="more">
          …{' '}
          <button type="button" class="read-more" onClick={() => setOpen(true)}>
            Read more
          </button>
        </p>
      ) : null}
    </div>
  );
}

function BlockText({ block }: { readonly block: Block }) {
  if (block.kind === 'line') return <p>{block.spans.length === 0 ? <br /> : block.spans.map(drawn)}</p>;
  if (block.kind === 'quote') return <blockquote>{block.spans.map(drawn)}</blockquote>;
  const items = block.items.map((item, at) => <li key={String(at)}>{item.map(drawn)}</li>);
  return block.kind === 'bullets' ? <ul>{items}</ul> : <ol start={block.first}>{items}</ol>;
}

/** Builds our own elements only: texts are untrusted. */
function drawn(span: Span): ComponentChildren {
  if (typeof span === 'string') return span;
  if (span.kind === 'link') {
    return span.href === '' ? (
      <span class="looks-linked">{span.text}</span>
    ) : (
      <a href={span.href} target="_blank" rel="noopener noreferrer" title={span.href}>
        {span.text}
      </a>
    );
  }
  const inside = span.spans.map(drawn);
  if (span.kind === 'bold') return <strong>{inside}</strong>;
  if (span.kind === 'italic') return <em>{inside}</em>;
  if (span.kind === 'struck') return <s>{inside}</s>;
  return <code class={span.kind}>{inside}</code>;
}
