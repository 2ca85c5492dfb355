import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from './api.ts';
import { Icon } from './icons.tsx';
import { reconnections } from './live.ts';
import { choose, wasChosenHere } from './router.ts';
import { useStore } from './store.ts';
import { wordOf } from './texts.ts';

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** The text is invisible for the first 300 ms (CSS), so that a quick answer does not flicker. */
export function Waiting({ what = 'Reading …' }: { readonly what?: string }) {
  return (
    <div class="empty waiting" role="status">
      <span class="spinner" aria-hidden="true" />
      <p class="empty-title">{what}</p>
    </div>
  );
}

interface FailedProps {
  readonly title: string;
  readonly problem: string;
  readonly onAgain?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}

/** A failed read must not look like an empty list. */
export function Failed({ title, problem, onAgain, children }: FailedProps) {
  return (
    <div class="empty failed" role="alert">
      <Icon name="faults" />
      <p class="empty-title">{title}</p>
      <p>{problem}</p>
      {onAgain === undefined ? null : (
        <button type="button" class="button" onClick={onAgain}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}

interface FactsProps {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
  readonly wide?: boolean;
}

export function Facts({ facts, wide = false }: FactsProps) {
  return (
    <dl class={wide ? 'pairs wide' : 'pairs'}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Leads back to the list on a narrow page. It takes the focus after a choice. */
export function BackButton({ page, children }: { readonly page: string; readonly children: string }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (wasChosenHere()) button.current?.focus();
  }, []);
  return (
    <button ref={button} type="button" class="button back" onClick={() => choose(page)}>
      <Icon name="back" /> {children}
    </button>
  );
}

/** Shows an error that a screen reader announces at once. */
export function Problem({ text }: { readonly text: string }) {
  return text === '' ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

const tones: Readonly<Record<string, string>> = {
  APPROVED: 'good',
  GREEN: 'good',
  CONNECTED: 'good',
  read: 'good',
  delivered: 'good',
  REJECTED: 'bad',
  DISABLED: 'bad',
  RED: 'bad',
  failed: 'bad',
  PAUSED: 'warn',
  YELLOW: 'warn',
  PENDING: 'warn',
  IN_APPEAL: 'warn',
};

interface BadgeProps {
  readonly value: string;
  readonly tone?: string;
}

export function Badge({ value, tone = tones[value] ?? 'plain' }: BadgeProps) {
  return <span class={`badge ${tone}`}>{wordOf(value)}</span>;
}

/** Copies a text; `said` reports the result for a moment. */
export function useCopy(text: string) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), 1_500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('The browser forbids it'),
    );
  return { said, copy };
}

interface CopyProps {
  readonly text: string;
  readonly label: string;
  /** The label may be ambiguous, so this names the copied thing. */
  readonly what?: string;
}

export function CopyButton({ text, label, what = '' }: CopyProps) {
  const { said, copy } = useCopy(text);
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      <Icon name="copy" />
      <span aria-live="polite">
        {said || label}
        {what === '' ? null : <span class="hidden"> {what}</span>}
      </span>
    </button>
  );
}

interface ActionProps {
  readonly run: (event: MouseEvent) => Promise<unknown>;
  readonly children: ComponentChildren;
  readonly tone?: 'plain' | 'main' | 'bad';
  readonly disabled?: boolean;
  readonly onProblem: (text: string) => void;
}

/** Makes one request at a time. */
export function Action({ run, children, tone = 'plain', disabled = false, onProblem }: ActionProps) {
  const [busy, setBusy] = useState(false);
  // State is too slow: a second click may come before the button is drawn as busy.
  const isRunning = useRef(false);
  const act = async (event: MouseEvent) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    onProblem('');
    try {
      await run(event);
    } catch (error) {
      onProblem(sentenceOf(error));
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={`button ${tone}`}
      disabled={disabled}
      aria-busy={busy}
      onClick={(event) => void act(event)}
    >
      {children}
    </button>
  );
}

interface TwiceProps {
  readonly label: string;
  /** These label the confirming and the cancelling button. */
  readonly sure: string;
  readonly keep?: string;
  readonly run: () => Promise<unknown>;
  readonly onProblem: (text: string) => void;
}

/** Asks for a second click before an irreversible act; a double click does not confirm. */
export function Twice({ label, sure, keep = 'No, keep it', run, onProblem }: TwiceProps) {
  const [isAsked, setAsked] = useState(false);
  const back = useRef<HTMLButtonElement>(null);
  // The cancelling button gets the focus, so that a second Enter does no harm.
  useEffect(() => {
    if (isAsked) back.current?.focus();
  }, [isAsked]);
  if (!isAsked) {
    return (
      <button type="button" class="button bad" onClick={() => setAsked(true)}>
        {label}
      </button>
    );
  }
  const confirm = async ({ detail: clicks }: MouseEvent) => {
    if (clicks > 1) return;
    await run();
    setAsked(false);
  };
  return (
    <>
      <Action tone="bad" onProblem={onProblem} run={confirm}>
        {sure}
      </Action>
      <button ref={back} type="button" class="button" onClick={() => setAsked(false)}>
        {keep}
      </button>
    </>
  );
}

export interface Answer<T> {
  /** The newest answer stays during the next read and after a failure. */
  readonly value?: T;
  /** The text is empty unless the newest read failed. */
  readonly problem: string;
  readonly again: () => void;
}

/** Reads again when `when` changes or the connection is back. A newer answer always wins. */
export function useAnswer<T>(ask: (() => Promise<T>) | undefined, when: string): Answer<T> {
  const [answer, setAnswer] = useState<{ readonly value?: T; readonly problem: string }>({ problem: '' });
  const [times, setTimes] = useState(0);
  const asked = useRef(0);
  const back = useStore(reconnections);
  useEffect(() => {
    asked.current += 1;
    const mine = asked.current;
    if (ask === undefined) return setAnswer({ problem: '' });
    ask().then(
      (value) => mine === asked.current && setAnswer({ value, problem: '' }),
      (error: unknown) => mine === asked.current && setAnswer((before) => ({ ...before, problem: sentenceOf(error) })),
    );
  }, [when, back, times]);
  return { ...answer, again: () => setTimes((count) => count + 1) };
}

export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="json" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  );
}
