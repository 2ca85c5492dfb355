import { type Counts, countsInWords, sharesOf } from './dispatch-model.ts';

interface BarProps {
  readonly counts: Counts;
  /** Hidden from screen readers, because words beside it say the same. */
  readonly isSaid?: boolean;
}

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
