import { type Counts, countsInWords, sharesOf } from './dispatch-model.ts';

interface BarProps {
  readonly counts: Counts;
  /** Words beside the bar say the same, so screen readers skip it. */
  readonly isSaid?: boolean;
  /** What its owner has cancelled is not red. */
  readonly isCancelled?: boolean;
}

export function StateBar({ counts, isSaid = false, isCancelled = false }: BarProps) {
  const name = isSaid ? { 'aria-hidden': true } : { role: 'img' as const, 'aria-label': countsInWords(counts) };
  return (
    <span class={`state-bar ${isCancelled ? 'of-cancelled' : ''}`} {...name}>
      {sharesOf(counts).map(({ state, percent }) => (
        <span key={state} class={`state-${state}`} style={{ width: `${percent}%` }} />
      ))}
    </span>
  );
}
