import { type Counts, countsInWords, sharesOf } from './dispatch-model.ts';

interface BarProps {
  readonly counts: Counts;
  /** The words beside it say the same: nothing for a screen reader. */
  readonly isSaid?: boolean;
}

/** How many recipients are in each state, as parts of a bar. */
export function StateBar({ counts, isSaid = false }: BarProps) {
  const name = isSaid ? { 'aria-hidden': true } : { role: 'img' as const, 'aria-label': countsInWords(counts) };
  return (
    <span class="state-bar" {...name}>
      {sharesOf(counts).map(({ state, percent }) => (
        <span key={state} class={`state-${state}`} style={{ width: `${percent}%` }} />
      ))}
    </span>
  );
}
