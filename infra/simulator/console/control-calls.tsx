import { useState } from 'preact/hooks';
import { call, control, sentenceOf } from './api.ts';
import type { ControlCall } from './model.ts';
import { Json, Problem, useAnswer } from './parts.tsx';

/** Makes any control call by hand, also those without a form. */
export function ControlCalls({ onChange }: { readonly onChange: () => void }) {
  const { value } = useAnswer(() => control<{ readonly data: readonly ControlCall[] }>('routes'), 'once');
  const calls = value?.data ?? [];
  const [chosen, setChosen] = useState('');
  const [path, setPath] = useState('');
  const [body, setBody] = useState('');
  const [problem, setProblem] = useState('');
  const [answer, setAnswer] = useState<{ readonly value: unknown }>();
  const route = calls.find((each) => `${each.method} ${each.path}` === chosen);
  const choose = (name: string) => {
    setChosen(name);
    setPath(name.split(' ')[1] ?? '');
    setAnswer(undefined);
    setProblem('');
  };
  const send = async () => {
    setProblem('');
    setAnswer(undefined);
    try {
      const parsed = body.trim() === '' ? undefined : (JSON.parse(body) as unknown);
      const isRead = route?.method === 'GET';
      setAnswer({ value: await call(route?.method ?? 'GET', path, isRead ? undefined : (parsed ?? {})) });
      if (!isRead) onChange();
    } catch (error) {
      setProblem(error instanceof SyntaxError ? `The body is no JSON: ${error.message}` : sentenceOf(error));
    }
  };
  return (
    <section class="panel wide" aria-labelledby="calls">
      <h2 id="calls">Any control call</h2>
      <p class="note">Everything that programs can ask of the simulator, made by hand.</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label class="field">
          <span>Call</span>
          <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">Choose one</option>
            {calls.map((each) => (
              <option key={`${each.method} ${each.path}`} value={`${each.method} ${each.path}`}>
                {each.method} {each.path}
              </option>
            ))}
          </select>
        </label>
        {route === undefined ? null : (
          <>
            <p class="note">{route.what}</p>
            <label class="field">
              <span>Path</span>
              <input value={path} onInput={({ currentTarget }) => setPath(currentTarget.value)} />
            </label>
            {route.method === 'GET' ? null : (
              <label class="field">
                <span>Body, JSON</span>
                <textarea
                  rows={4}
                  value={body}
                  placeholder="{}"
                  spellcheck={false}
                  onInput={({ currentTarget }) => setBody(currentTarget.value)}
                />
              </label>
            )}
            <button type="submit" class="button main" disabled={!path.startsWith('/_control/')}>
              Send the call
            </button>
          </>
        )}
        <Problem text={problem} />
        {answer === undefined ? null : <Json value={answer.value} label="Answer" />}
      </form>
    </section>
  );
}
