import type { ComponentChildren } from 'preact';
import { Icon } from './icons.tsx';
import { narrow, place } from './router.ts';
import { useStore } from './store.ts';

/* The address holds the filters, for history and sharing. */

interface FiltersProps {
  /** Screen readers say the full label. */
  readonly label: string;
  readonly hint: string;
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** Shows the search field and further filters; the down arrow moves to the list. */
export function Filters({
  label,
  hint,
  title = 'Words that all must be there; !word: must not',
  children,
}: FiltersProps) {
  const { filter } = useStore(place);
  return (
    <div class="filters">
      <label class="search">
        <Icon name="search" />
        <span class="hidden">{label}</span>
        <input
          type="search"
          placeholder={hint}
          title={title}
          value={filter['q'] ?? ''}
          onInput={({ currentTarget }) => narrow('q', currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            event.currentTarget.closest('.pane-list')?.querySelector<HTMLElement>('.list, .routes a')?.focus();
          }}
        />
      </label>
      {children}
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** The empty choice has this label. */
  readonly all: string;
  readonly options: readonly (readonly [string, string])[];
}

export function Choice({ name, label, all, options }: ChoiceProps) {
  const { filter } = useStore(place);
  const value = filter[name] ?? '';
  // A value from the address stays selected, even when no row has it.
  const isKnown = value === '' || options.some(([each]) => each === value);
  return (
    <label class="choice">
      <span class="hidden">{label}</span>
      <select value={value} onChange={({ currentTarget }) => narrow(name, currentTarget.value)}>
        <option value="">{all}</option>
        {[...options, ...(isKnown ? [] : [[value, value] as const])].map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
