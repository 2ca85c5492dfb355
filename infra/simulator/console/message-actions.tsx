import { useState } from 'preact/hooks';
import { control, sentenceOf } from './api.ts';
import type { MessageDetail } from './model.ts';
import { Action } from './parts.tsx';

interface ActionsProps {
  readonly detail: MessageDetail;
  readonly onProblem: (text: string) => void;
}

const failures: readonly (readonly [number, string])[] = [
  [131026, 'undeliverable'],
  [131049, 'healthy ecosystem'],
  [131050, 'stopped marketing'],
  [131053, 'media not fetched'],
];

/** Offers acts of the recipient, and later statuses from the platform. */
export function MessageActions({ detail, onProblem }: ActionsProps) {
  const [text, setText] = useState('');
  const [answers, setAnswers] = useState(true);
  const [code, setCode] = useState('131026');
  const [seconds, setSeconds] = useState('5');
  const at = `messages/${encodeURIComponent(detail.row.id)}`;
  const reply = async () => {
    await control(`${at}/reply`, { text, has_context: answers });
    setText('');
  };
  const replyByEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing || text.trim() === '') return;
    onProblem('');
    reply().catch((error: unknown) => onProblem(sentenceOf(error)));
  };
  const person = `recipients/${encodeURIComponent(detail.row.to)}`;
  const block = () => control(person, { blocked: !detail.blocked });
  const wants = { phone_number_id: detail.row.number, value: detail.stopped ? 'resume' : 'stop' };
  const fail = () => control(`${at}/status`, { status: 'failed', code: Number(code), in_seconds: Number(seconds) });
  return (
    <div class="actions">
      <div class="action-line">
        <label class="grow">
          <span>Reply</span>
          <input
            value={text}
            maxLength={4096}
            placeholder="What the recipient writes"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={replyByEnter}
          />
        </label>
        <Action tone="main" run={reply} disabled={text.trim() === ''} onProblem={onProblem}>
          Reply
        </Action>
        <label class="tick">
          <input
            type="checkbox"
            checked={answers}
            onChange={({ currentTarget }) => setAnswers(currentTarget.checked)}
          />
          <span>as an answer to this message</span>
        </label>
      </div>
      <fieldset class="action-line">
        <legend>Offers and announcements</legend>
        <Action run={() => control(`${person}/preference`, wants)} onProblem={onProblem}>
          {detail.stopped ? 'Resume marketing' : 'Stop marketing'}
        </Action>
      </fieldset>
      <div class="action-line">
        <label class="grow">
          <span>Fail with</span>
          <select value={code} onChange={({ currentTarget }) => setCode(currentTarget.value)}>
            {failures.map(([each, why]) => (
              <option key={each} value={String(each)}>
                {each} · {why}
              </option>
            ))}
          </select>
        </label>
        <label class="short">
          <span>in seconds</span>
          <input
            type="number"
            min="0"
            value={seconds}
            onInput={({ currentTarget }) => setSeconds(currentTarget.value)}
          />
        </label>
        <Action tone="bad" run={fail} disabled={!/^\d{1,7}$/.test(seconds)} onProblem={onProblem}>
          Fail later
        </Action>
      </div>
      <div class="action-line">
        <Action run={() => control(`${at}/status`, { status: 'read' })} onProblem={onProblem}>
          Read now
        </Action>
        <Action run={block} onProblem={onProblem}>
          {detail.blocked ? 'Unblock the business' : 'Block the business'}
        </Action>
      </div>
    </div>
  );
}
