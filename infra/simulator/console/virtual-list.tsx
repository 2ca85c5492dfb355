import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

interface ListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly rowHeight: number;
  readonly chosen: string;
  readonly onChoose: (item: T) => void;
  /** Escape calls it: nothing stays chosen. */
  readonly onLeave?: () => void;
  /** The list calls it with the visible range when it or the items change. */
  readonly onSeen?: (first: number, last: number) => void;
  readonly row: (item: T) => ComponentChildren;
}

/** Rows above and below are drawn too. */
const margin = 6;

/**
 * Draws only visible rows. The list has one tab stop; arrows, Home, End and page keys choose. New rows above do not
 * move the view.
 */
export function VirtualList<T>(props: ListProps<T>) {
  const { label, items, keyOf, rowHeight, chosen, onChoose, onLeave, onSeen, row } = props;
  const box = useRef<HTMLDivElement>(null);
  const [{ top, height }, setView] = useState({ top: 0, height: 600 });
  const anchor = useRef('');
  const lastTop = useRef(0);
  // The result is memoized: a scroll must not search 100,000 items.
  const at = useMemo(
    () => (chosen === '' ? -1 : items.findIndex((item) => keyOf(item) === chosen)),
    [items, keyOf, chosen],
  );

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => {
      // A hidden list has no height and loses its scroll position.
      if (element.clientHeight === 0) return;
      if (lastTop.current !== element.scrollTop) element.scrollTop = lastTop.current;
      setView({ top: element.scrollTop, height: element.clientHeight });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // The list scrolls to an item from the address once it is listed; after that the reader scrolls.
  const isListed = at >= 0;
  useLayoutEffect(() => {
    if (isListed) bringIntoSight(at);
  }, [chosen, isListed]);

  // On a narrow page the list gets the focus back when the item closes.
  const wasChosen = useRef(false);
  useLayoutEffect(() => {
    if (wasChosen.current && chosen === '' && document.activeElement === document.body) box.current?.focus();
    wasChosen.current = chosen !== '';
  }, [chosen]);

  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const shown = items.slice(first, Math.ceil((top + height) / rowHeight) + margin);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const seen = Math.floor(element.scrollTop / rowHeight);
    const there = items[seen];
    const isMoved = there === undefined || keyOf(there) !== anchor.current;
    if (isMoved && element.scrollTop >= rowHeight && anchor.current !== '') {
      const moved = items.findIndex((item) => keyOf(item) === anchor.current);
      if (moved > seen) element.scrollTop += (moved - seen) * rowHeight;
    }
    const item = items[Math.floor(element.scrollTop / rowHeight)];
    anchor.current = item === undefined ? '' : keyOf(item);
    // The effect runs only for changed items: a scroll sets the anchor itself.
  }, [items, keyOf, rowHeight]);

  const seenFirst = Math.floor(top / rowHeight);
  const seenLast = Math.min(items.length, Math.ceil((top + height) / rowHeight));
  useEffect(() => onSeen?.(seenFirst, seenLast), [items, seenFirst, seenLast]);

  const onScroll = () => {
    const element = box.current;
    if (element === null) return;
    const item = items[Math.floor(element.scrollTop / rowHeight)];
    anchor.current = item === undefined ? '' : keyOf(item);
    lastTop.current = element.scrollTop;
    setView({ top: element.scrollTop, height: element.clientHeight });
  };

  function bringIntoSight(index: number): void {
    const element = box.current;
    if (element === null) return;
    const y = index * rowHeight;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = y + rowHeight - element.clientHeight;
  }

  const goTo = (index: number) => {
    const item = items[Math.max(0, Math.min(items.length - 1, index))];
    if (item === undefined) return;
    bringIntoSight(items.indexOf(item));
    onChoose(item);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && chosen !== '') onLeave?.();
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: items.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    };
    const next = steps[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    goTo(next);
  };

  const isSeen = at >= first && at < first + shown.length;
  return (
    <div
      ref={box}
      class="list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={isSeen ? `option-${at}` : undefined}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div class="list-space" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        {shown.map((item, index) => {
          const place = first + index;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
            <div
              key={keyOf(item)}
              id={`option-${place}`}
              class="list-row"
              role="option"
              tabIndex={-1}
              aria-selected={place === at}
              aria-posinset={place + 1}
              aria-setsize={items.length}
              style={{ top: `${place * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => onChoose(item)}
            >
              {row(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
