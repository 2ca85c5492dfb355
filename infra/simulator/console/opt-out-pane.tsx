import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { notRefused, refusedBy, Why } from './code-words.tsx';
import { changeOptOut, isOfClient, type OptOut, scopes, sources } from './opt-outs.ts';
import { Action, BackButton, Empty, Facts } from './parts.tsx';
import { addressOf, choose } from './router.ts';
import { momentOf, numberOf } from './texts.ts';

/** Shortens the state for a row: beside a stop it does not repeat that the platform refuses. */
export function StateInShort({ row }: { readonly row: OptOut }) {
  if (row.state === 'stopped') return <span class="badge warn">No marketing</span>;
  return row.platform_stopped ? (
    <span class="badge bad">Platform refuses</span>
  ) : (
    <span class="badge good">Started again</span>
  );
}

function StateOf({ row }: { readonly row: OptOut }) {
  return (
    <span>
      {row.platform_stopped ? <span class="badge bad">Platform refuses</span> : null}{' '}
      <span class={`badge ${row.state === 'stopped' ? 'warn' : 'good'}`}>
        {row.state === 'stopped' ? 'No marketing' : 'Started again'}
      </span>
    </span>
  );
}

/** Changes an opt-out for the client, and keeps a refusal with its code. */
function useSaying(onSaid: () => void) {
  const [refused, setRefused] = useState(notRefused);
  const saying = async (method: 'PUT' | 'DELETE', recipient: string): Promise<OptOut | undefined> => {
    setRefused(notRefused);
    try {
      const entry = await changeOptOut(method, recipient);
      onSaid();
      return entry;
    } catch (error) {
      setRefused(refusedBy(error));
      return undefined;
    }
  };
  return { refused, saying };
}

export function StopPerson({ onSaid }: { readonly onSaid: () => void }) {
  const [recipient, setRecipient] = useState('');
  const { refused, saying } = useSaying(onSaid);
  return (
    <form
      class="stop-person"
      onSubmit={(event) => {
        event.preventDefault();
        void saying('PUT', recipient).then((entry) => {
          if (entry === undefined) return;
          setRecipient('');
          choose('people', entry.recipient);
        });
      }}
    >
      <label class="grow">
        <span class="hidden">Number or user id of a person</span>
        <input
          value={recipient}
          placeholder="Number, with country code"
          onInput={({ currentTarget }) => setRecipient(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button" disabled={recipient.trim() === ''}>
        Stop marketing
      </button>
      <Why refused={refused} />
    </form>
  );
}

interface PaneProps {
  readonly id: string;
  readonly entry: OptOut | undefined;
  readonly onSaid: () => void;
}

/** Shows one person: the state, its source, and the client's options. */
export function OptOutPane({ id, entry, onSaid }: PaneProps) {
  const back = <BackButton page="people">All people</BackButton>;
  if (entry === undefined) {
    return (
      <Empty title="Nothing is known of this person">
        <p>{numberOf(id)} is not in the list, or further down than was read.</p>
        {back}
      </Empty>
    );
  }
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ...(entry.also?.length ? [['Also', entry.also.map(numberOf).join(', ')] as const] : []),
    ['Said by', sources[entry.source] ?? entry.source],
    [entry.state === 'stopped' ? 'Stopped' : 'Started', momentOf(Date.parse(entry.at))],
    ['Counts for', scopes[entry.scope] ?? entry.scope],
    ['Platform', entry.platform_stopped ? 'refuses marketing to this person' : 'takes marketing to this person'],
  ];
  const wanted = numberOf(entry.recipient);
  return (
    <div class="exchange person">
      {back}
      <h2>
        {wanted} <StateOf row={entry} />
      </h2>
      <Facts facts={facts} />
      <Words entry={entry} onSaid={onSaid} />
      <ul class="links">
        <li>
          <a href={addressOf('inbox', '', { q: wanted })}>Messages to this person, on the phone</a>
        </li>
        <li>
          <a href={addressOf('people', '', { show: 'phones', q: wanted })}>What this person did on the phone</a>
        </li>
      </ul>
    </div>
  );
}

function Words({ entry, onSaid }: { readonly entry: OptOut; readonly onSaid: () => void }) {
  const { refused, saying } = useSaying(onSaid);
  const isStopped = entry.state === 'stopped';
  return (
    <div class="actions words">
      <p>{meaningOf(entry)}</p>
      {isStopped && !isOfClient(entry) ? null : (
        <Action
          tone="main"
          run={() => saying(isStopped ? 'DELETE' : 'PUT', entry.recipient)}
          onProblem={() => undefined}
        >
          {isStopped ? 'Take back the stop' : 'Stop marketing'}
        </Action>
      )}
      <Why refused={refused} />
    </div>
  );
}

function meaningOf(entry: OptOut): string {
  const { state, scope, platform_stopped: isRefused } = entry;
  if (isOfClient(entry)) return 'The client has said so itself, and may take it back.';
  if (state === 'stopped') {
    return scope === 'client'
      ? 'The person has said so: the client cannot take it back. The person starts it again, for example by writing START.'
      : 'The person has stopped it at the platform: only the person resumes it, in the settings on the phone.';
  }
  return isRefused
    ? 'The client may send again, but the platform still refuses: the person resumes it in the settings on the phone.'
    : 'The client may send marketing to this person.';
}
