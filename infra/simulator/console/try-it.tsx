import { useState } from 'preact/hooks';
import { sentenceOf } from './api.ts';
import { exampleOf, type Operation, type Parameter } from './openapi.ts';
import { Json, Problem } from './parts.tsx';
import { ask, session, type TriedAnswer, type TriedRequest } from './session.ts';
import { useStore } from './store.ts';

type Values = Readonly<Record<string, string>>;

/** The route's request, filled in with its examples, and what the local service answers. */
export function TryIt({ operation }: { readonly operation: Operation }) {
  const { parameters = [], requestBody } = operation;
  const [type = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const first = Object.fromEntries(parameters.map((each) => [keyOf(each), exampleOf(each.examples)]));
  const [values, setValues] = useState<Values>(first);
  const [body, setBody] = useState(exampleOf(content?.examples));
  const [answer, setAnswer] = useState<TriedAnswer>();
  const [problem, setProblem] = useState('');
  const who = useStore(session);
  const send = async () => {
    setProblem('');
    setAnswer(undefined);
    try {
      setAnswer(await ask(requestOf(operation, { values, type, body, token: who?.token })));
    } catch (error) {
      setProblem(sentenceOf(error));
    }
  };
  return (
    <form
      class="form actions"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="fields">
        {parameters.map((each) => (
          <label key={keyOf(each)} class="field" title={each.description}>
            <span>
              {each.name}
              {each.required === true ? '' : ', optional'}
            </span>
            <input
              value={values[keyOf(each)] ?? ''}
              required={each.required === true}
              onInput={({ currentTarget }) => setValues({ ...values, [keyOf(each)]: currentTarget.value })}
            />
          </label>
        ))}
      </div>
      {content === undefined ? null : (
        <label class="field">
          <span>Body, {type}</span>
          <textarea
            rows={Math.min(16, Math.max(3, body.split('\n').length))}
            value={body}
            spellcheck={false}
            onInput={({ currentTarget }) => setBody(currentTarget.value)}
          />
        </label>
      )}
      <button type="submit" class="button main">
        Try it
      </button>
      <Problem text={problem} />
      {answer === undefined ? null : <Answer answer={answer} />}
    </form>
  );
}

function Answer({ answer: { status, headers, body } }: { readonly answer: TriedAnswer }) {
  const tone = status < 300 ? 'good' : status < 500 ? 'warn' : 'bad';
  return (
    <div role="status">
      <span class={`badge ${tone}`}>{status}</span>
      <Json value={readable(body)} label="Answer" />
      <details class="raw">
        <summary>Headers</summary>
        <Json value={headers} label="Headers of the answer" />
      </details>
    </div>
  );
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function keyOf({ in: where, name }: Parameter): string {
  return `${where} ${name}`;
}

interface Filled {
  readonly values: Values;
  readonly type: string;
  readonly body: string;
  readonly token: string | undefined;
}

/** What is left empty is left out. */
function requestOf({ method, path, parameters = [] }: Operation, filled: Filled): TriedRequest {
  const { values, type, body, token } = filled;
  const of = (where: Parameter['in']) =>
    parameters
      .filter((each) => each.in === where && (values[keyOf(each)] ?? '') !== '')
      .map((each) => [each.name, values[keyOf(each)] ?? ''] as const);
  const place = of('path').reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path);
  const query = new URLSearchParams(of('query').map(([name, value]) => [name, value])).toString();
  const hasBody = body.trim() !== '';
  return {
    method,
    path: query === '' ? place : `${place}?${query}`,
    headers: {
      ...Object.fromEntries(of('header')),
      ...(hasBody ? { 'content-type': type } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(hasBody ? { body } : {}),
  };
}
