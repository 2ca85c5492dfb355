import { useState } from 'preact/hooks';
import { control } from './api.ts';
import type { Overview } from './model.ts';
import { Action, Problem } from './parts.tsx';

interface PanelProps {
  readonly overview: Overview;
  readonly onChange: () => void;
}

/** Lists addresses of webhook receivers, and has a form for any webhook. */
export function WebhookReceiversPanel({ overview, onChange }: PanelProps) {
  return (
    <section class="panel" aria-labelledby="telling">
      <h2 id="telling">Webhook receivers</h2>
      {overview.apps.map((app) => (
        <App key={`${app.id} ${app.callback?.url}`} app={app} onChange={onChange} />
      ))}
      <h3>Send a webhook</h3>
      <Telling wabas={overview.wabas} onChange={onChange} />
    </section>
  );
}

/** A change needs no handshake. */
function App({ app, onChange }: { readonly app: Overview['apps'][number]; readonly onChange: () => void }) {
  const [url, setUrl] = useState(app.callback?.url ?? '');
  const [problem, setProblem] = useState('');
  const save = async () => {
    await control(`apps/${encodeURIComponent(app.id)}`, { callback_url: url.trim() === '' ? null : url.trim() });
    onChange();
  };
  return (
    <>
      <div class="action-line">
        <label class="grow">
          <span>
            {app.name} · {app.id}
          </span>
          <input
            value={url}
            placeholder="No address: no webhooks are sent"
            inputMode="url"
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
        <Action run={save} disabled={url === (app.callback?.url ?? '')} onProblem={setProblem}>
          Change the address
        </Action>
      </div>
      <Problem text={problem} />
    </>
  );
}

const example = '{"event": "ACCOUNT_RESTRICTION"}';

function Telling({ wabas, onChange }: { readonly wabas: Overview['wabas']; readonly onChange: () => void }) {
  const [waba, setWaba] = useState(wabas[0]?.id ?? '');
  const [field, setField] = useState('account_update');
  const [value, setValue] = useState(example);
  const [problem, setProblem] = useState('');
  const tell = async () => {
    await control('webhooks', { waba_id: waba, field, value: parsed(value) });
    onChange();
  };
  return (
    <>
      <div class="action-line">
        <label class="grow">
          <span>Business account</span>
          <select value={waba} onChange={({ currentTarget }) => setWaba(currentTarget.value)}>
            {wabas.map(({ id, fields }) => (
              <option key={id} value={id}>
                {String(fields['name'])}
              </option>
            ))}
          </select>
        </label>
        <label class="grow">
          <span>Webhook field</span>
          <input value={field} onInput={({ currentTarget }) => setField(currentTarget.value)} />
        </label>
      </div>
      <label class="field">
        <span>Value, JSON</span>
        <textarea
          rows={2}
          value={value}
          spellcheck={false}
          onInput={({ currentTarget }) => setValue(currentTarget.value)}
        />
      </label>
      <Problem text={problem} />
      <div class="action-line">
        <Action run={tell} disabled={field.trim() === ''} onProblem={setProblem}>
          Send a webhook
        </Action>
      </div>
    </>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The value is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}
