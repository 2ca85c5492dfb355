import { controlRoutes } from './control.ts';
import { magicRecipients } from './magic-recipients.ts';
import type { World } from './state.ts';
import { magicWords } from './templates/magic-words.ts';

/** Markup that may go into a page as it is; every other value is escaped. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[];

function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(rendered)));
}

function rendered(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((part) => part.text).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const messagesShown = 50;

/** The page at `/`: the last messages, the counters, and how to make the simulator misbehave. */
export function inboxPage(world: World): string {
  const { data } = world.messages.find({ limit: messagesShown });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Platform simulator</title>
<link rel="icon" href="data:,">
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; margin-bottom: 2rem; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid #ddd; }
pre { margin: 0; max-width: 60rem; white-space: pre-wrap; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Platform simulator</h1>
<p>${world.messages.total} messages accepted for ${world.messages.recipients} recipients, ${world.requests.total} platform
requests, ${world.templates.size} templates, ${world.faults.size} faults in force, ${world.deliveries.total} webhooks
posted, ${world.outbox.waiting.planned} updates planned. The clock here says
${new Date(world.clock.nowMs()).toISOString()}.</p>
<h2>Last messages</h2>
${table(
  ['Received', 'To', 'From', 'Request'],
  data.map((message) => [
    message.received_at,
    message.to,
    message.phone_number_id,
    html`<pre>${JSON.stringify(message.request)}</pre>`,
  ]),
)}
<h2>Magic recipients</h2>
${table(
  ['To', 'A message that passes every check is ...'],
  magicRecipients.map((recipient) => [recipient.to, recipient.what]),
)}
<h2>Magic words</h2>
${table(
  ['In a body', 'A template that passes every check ...'],
  magicWords.map(({ word, what }) => [word, what]),
)}
<h2>Control</h2>
${table(
  ['Route', 'What it does'],
  controlRoutes.map((route) => [html`<code>${route.method} ${route.path}</code>`, route.what]),
)}
</body>
</html>
`.text;
}

function table(heads: readonly string[], rows: readonly (readonly (string | Html)[])[]): Html {
  return html`<table>
<tr>${heads.map((head) => html`<th>${head}</th>`)}</tr>
${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</table>`;
}
