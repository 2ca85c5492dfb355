import { type Counts, countsInWords, sharesOf } from './dispatch-model.ts';

interface BarProps {
  readonly counts: Counts;
  /** Words beside the bar say the same, so screen readers skip it. */
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
