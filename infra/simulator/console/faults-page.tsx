import { ActiveFaultsPanel } from './active-faults-panel.tsx';
import { control } from './api.ts';
import { BlockedPanel } from './blocked-panel.tsx';
import { BusinessPanel } from './business-panel.tsx';
import { ClockPanel } from './clock-panel.tsx';
import { ControlCalls } from './control-calls.tsx';
import { HoldsPanel } from './holds-panel.tsx';
import { counters } from './live.ts';
import type { Overview, TemplateRow } from './model.ts';
import { OtherFaultsPanel } from './other-faults-panel.tsx';
import { CopyButton, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { PresetsPanel } from './presets-panel.tsx';
import { StoppedMarketingPanel } from './stopped-marketing-panel.tsx';
import { useStore } from './store.ts';
import { WebhookReceiversPanel } from './webhook-receivers-panel.tsx';

export function FaultsPage() {
  const told = useStore(counters);
  const { value, problem, again } = useAnswer(
    () => control<Overview>('overview'),
    `${told?.world} ${told?.settings} ${told?.requests} ${told?.webhooks} ${told?.planned} ${told?.templates}`,
  );
  const templates = useAnswer(
    () => control<{ readonly data: readonly TemplateRow[] }>('templates'),
    `${told?.world} ${told?.templates}`,
  );
  if (value === undefined) {
    const title = 'The state of the platform could not be read';
    return (
      <div class="page">
        {problem === '' ? <Waiting /> : <Failed title={title} problem={problem} onAgain={again} />}
      </div>
    );
  }
  return (
    <div class="page panels">
      <Problem text={problem || templates.problem} />
      <ClockPanel overview={value} />
      <ActiveFaultsPanel overview={value} onChange={again} />
      <HoldsPanel overview={value} onChange={again} />
      <PresetsPanel world={{ ...value, templates: templates.value?.data ?? [] }} onChange={again} />
      <OtherFaultsPanel overview={value} onChange={again} />
      <StoppedMarketingPanel overview={value} onChange={again} />
      <BlockedPanel blocked={value.blocked} />
      <WebhookReceiversPanel overview={value} onChange={again} />
      <BusinessPanel overview={value} onChange={again} />
      <MagicPanel overview={value} />
      <ControlCalls onChange={again} />
    </div>
  );
}

function MagicPanel({ overview }: { readonly overview: Overview }) {
  return (
    <section class="panel wide" aria-labelledby="magic">
      <h2 id="magic">Magic recipients</h2>
      <p class="note">A message to one of these that passes every check meets what is said beside it.</p>
      <ul class="magic">
        {overview.magic_recipients.map(({ to, what }) => (
          <li key={to}>
            <code>{to}</code>
            <span>{what}</span>
            <CopyButton text={to} label="Copy" what={to} />
          </li>
        ))}
      </ul>
      <h3>Magic words</h3>
      <p class="note">In the body of a template that passes every check. The template …</p>
      <ul class="magic words">
        {overview.magic_words.map(({ word, what }) => (
          <li key={word}>
            <code>{word}</code>
            <span>{what}</span>
            <CopyButton text={word} label="Copy" what={word} />
          </li>
        ))}
      </ul>
    </section>
  );
}
