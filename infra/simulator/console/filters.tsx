import type { ComponentChildren } from 'preact';
import { Icon } from './icons.tsx';
import { narrow, place } from './router.ts';
import { useStore } from './store.ts';

/*
 * What narrows a list. It stands in the address: it can be gone back to, and sent to somebody.
 */

interface FiltersProps {
  /** What can be searched for, in full. */
  readonly label: string;
  readonly hint: string;
  /** How it is searched. */
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** The search above a list, and what else narrows it. The arrow key goes on to the list. */
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
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  /** What it says while it narrows nothing. */
  readonly all: string;
  /** Each value with the words for it. */
  readonly options: readonly (readonly [string, string])[];
}

export function Choice({ name, label, all, options }: ChoiceProps) {
  const { filter } = useStore(place);
  const value = filter[name] ?? '';
  // What an address asks for is shown as chosen, also while nothing is like that.
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
