import { useMemo, useState } from 'preact/hooks';
import { control } from './api.ts';
import { Remedy } from './code-words.tsx';
import { counters, now } from './live.ts';
import { MessageActions } from './message-actions.tsx';
import { statusAt } from './message-status.ts';
import type { MessageDetail } from './model.ts';
import { BackButton, Badge, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { Bubble, type ButtonPlace, OwnBubble, Phone } from './phone.tsx';
import { KnownThings } from './phone-context.ts';
import { type ButtonView, phoneView } from './phone-view.ts';
import { Held, Holds, Replies, RequestAsItCame, SendFacts, Tries } from './send-facts.tsx';
import { useStore } from './store.ts';
import { numberOf, timeOf, wordOf } from './texts.ts';

export function MessagePane({ id }: { readonly id: string }) {
  const told = useStore(counters);
  const when = `${id} ${told?.world} ${told?.touched} ${told?.settings}`;
  const { value, problem, again } = useAnswer(() => control<MessageDetail>(`messages/${encodeURIComponent(id)}`), when);
  if (problem !== '') {
    return (
      <Failed title="This message cannot be shown" problem={problem} onAgain={again}>
        <BackButton page="inbox">All messages</BackButton>
      </Failed>
    );
  }
  return value === undefined ? <Waiting /> : <Message detail={value} />;
}

function Message({ detail }: { readonly detail: MessageDetail }) {
  const { row, components, parts } = detail;
  const [problem, setProblem] = useState('');
  const nowMs = useStore(now);
  const { code: failure } = statusAt(row, nowMs);
  const view = useMemo(() => phoneView(components, parts), [components, parts]);
  const tap = (place: ButtonPlace, button: ButtonView) => {
    setProblem('');
    const at = `messages/${encodeURIComponent(row.id)}`;
    // The form is not simulated: its answer holds only the token.
    const form = { text: 'Sent', flow: { flow_token: button.value || 'unused' } };
    const tapped = button.kind === 'flow' ? control(`${at}/reply`, form) : control(`${at}/tap`, place);
    tapped.catch((error: Error) => setProblem(error.message));
  };
  return (
    <div class="message-pane">
      <BackButton page="inbox">All messages</BackButton>
      <KnownThings.Provider value={detail}>
        <Phone label={`Phone of ${numberOf(row.to)}`} name={detail.from_name || 'Business'} note={detail.from}>
          <Bubble key={row.id} view={view} atMs={row.received_ms} onTap={tap} />
          {detail.replies.map((each) => (
            <OwnBubble key={each.id} text={each.text} atMs={each.at_ms} />
          ))}
          {detail.stopped ? <p class="chat-note">This recipient has stopped marketing</p> : null}
          {detail.blocked ? <p class="chat-note">This recipient has blocked the business</p> : null}
        </Phone>
      </KnownThings.Provider>
      <div class="facts">
        <h2>
          {numberOf(row.to)} {detail.stopped ? <Badge value="Stopped marketing" tone="warn" /> : null}
        </h2>
        <Timeline detail={detail} />
        {failure === undefined ? null : <Remedy code={String(failure)} />}
        <Held detail={detail} nowMs={nowMs} onProblem={setProblem} />
        <Holds detail={detail} onProblem={setProblem} />
        <Problem text={problem} />
        <MessageActions detail={detail} onProblem={setProblem} />
        <SendFacts detail={detail} />
        <Replies replies={detail.replies} />
        <Tries detail={detail} />
        <RequestAsItCame request={detail.request} />
      </div>
    </div>
  );
}

function Timeline({ detail: { row } }: { readonly detail: MessageDetail }) {
  const nowMs = useStore(now);
  const steps = [{ status: 'accepted', at_ms: row.received_ms }, ...row.told].sort((a, b) => a.at_ms - b.at_ms);
  return (
    <ol class="timeline" aria-label="What was told of it">
      {steps.map((step, at) => (
        <li key={String(at)} class={`${step.status} ${step.at_ms > nowMs ? 'planned' : ''}`}>
          <span>
            {wordOf(step.status)}
            {'code' in step && step.code !== undefined ? ` ${step.code}` : ''}
          </span>
          <time dateTime={new Date(step.at_ms).toISOString()}>
            {step.at_ms > nowMs ? `planned, ${timeOf(step.at_ms)}` : timeOf(step.at_ms)}
          </time>
        </li>
      ))}
    </ol>
  );
}
