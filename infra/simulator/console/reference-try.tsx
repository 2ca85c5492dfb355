import { useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from './api.ts';
import { type Document, type Operation, type Parameter, parsedJson } from './openapi.ts';
import { CopyButton, Facts, Json, Problem } from './parts.tsx';
import { toneOf } from './reference-answers.tsx';
import { dispatchesOf } from './reference-dispatches.ts';
import { Limits } from './reference-fields.tsx';
import { type Filled, type Tried, tried, tryIt } from './reference-history.ts';
import { exampleFilled, freshKey, keyOf, repeatKey, requestOf } from './reference-request.ts';
import { Samples } from './reference-sample-box.tsx';
import { typeOf, valuesOf } from './reference-types.ts';
import { addressOf } from './router.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';
import { counted, timeOf } from './texts.ts';

interface RouteProps {
  readonly document: Document;
  readonly operation: Operation;
}

/** Shows the request form with the example, the local service's answer, and code samples. */
export function TryIt({ document, operation }: RouteProps) {
  const { operationId } = operation;
  const [filled, setFilled] = useState<Filled>(exampleFilled(operation));
  const [shown, setShown] = useState<Tried>();
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const [keepsKey, setKeepsKey] = useState(false);
  const send = async () => {
    setProblem('');
    setShown(undefined);
    setBusy(true);
    try {
      setShown(await tryIt(operationId, filled, requestOf(operation, filled, session.get())));
      if (!keepsKey) setFilled((now) => (now.values[repeatKey] ? withValue(now, repeatKey, freshKey()) : now));
    } catch (error) {
      setProblem(sentenceOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <form
        class="form actions"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Inputs document={document} operation={operation} filled={filled} onFilled={setFilled} />
        {repeatKey in filled.values ? (
          <label class="tick">
            <input
              type="checkbox"
              checked={keepsKey}
              onChange={({ currentTarget }) => setKeepsKey(currentTarget.checked)}
            />
            <span>Keep the Idempotency-Key: the next try repeats this one, and nothing is sent twice</span>
          </label>
        ) : null}
        <button type="submit" class="button main" disabled={busy} aria-busy={busy}>
          Try it
        </button>
        <Problem text={problem} />
        {shown === undefined ? null : <Answer one={shown} />}
        <Earlier
          operationId={operationId}
          shown={shown}
          onChoose={(one) => {
            setFilled(
              keepsKey ? one.filled : withValue(one.filled, repeatKey, one.filled.values[repeatKey] && freshKey()),
            );
            setShown(one);
          }}
        />
      </form>
      <Samples operation={operation} filled={filled} />
    </>
  );
}

/** Sets a value only if it is given. */
function withValue(filled: Filled, key: string, value: string | undefined): Filled {
  return value === undefined ? filled : { ...filled, values: { ...filled.values, [key]: value } };
}

interface InputsProps extends RouteProps {
  readonly filled: Filled;
  readonly onFilled: (filled: Filled) => void;
}

function Inputs({ document, operation: { parameters = [], requestBody }, filled, onFilled }: InputsProps) {
  const [type] = Object.keys(requestBody?.content ?? {});
  const [example] = Object.values(requestBody?.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples));
  // Required parameters and those of the example come first: a list has twenty.
  const isFirst = ({ required, examples }: Parameter) =>
    required === true || (examples !== undefined && (example === undefined || example in examples));
  const others = parameters.filter((each) => !isFirst(each));
  const fieldOf = (each: Parameter) => (
    <ParameterField
      key={keyOf(each)}
      document={document}
      parameter={each}
      value={filled.values[keyOf(each)] ?? ''}
      onValue={(value) => onFilled({ ...filled, values: { ...filled.values, [keyOf(each)]: value } })}
    />
  );
  return (
    <>
      {parameters.filter(isFirst).map(fieldOf)}
      {type === undefined ? null : (
        <label class="field">
          <span>Body of the request, {type}</span>
          <textarea
            rows={Math.min(18, Math.max(3, filled.body.split('\n').length))}
            value={filled.body}
            spellcheck={false}
            onInput={({ currentTarget }) => onFilled({ ...filled, body: currentTarget.value })}
          />
        </label>
      )}
      {others.length === 0 ? null : (
        <details class="raw more">
          <summary>
            {others.length === parameters.length ? 'If wanted: ' : 'More, if wanted: '}
            {others.map(({ name }) => name).join(', ')}
          </summary>
          {others.map(fieldOf)}
        </details>
      )}
    </>
  );
}

const placeWords: Readonly<Record<Parameter['in'], string>> = {
  path: 'in the path',
  query: 'in the query',
  header: 'a header',
};

interface ParameterProps {
  readonly document: Document;
  readonly parameter: Parameter;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function ParameterField({ document, parameter, value, onValue }: ParameterProps) {
  const { name, in: where, schema = {}, required = false, description } = parameter;
  const id = `parameter-${where}-${name}`;
  const choices = valuesOf(document, schema);
  const shared = { id, value, required, 'aria-describedby': `${id}-what` };
  return (
    <div class="parameter">
      <div>
        <label for={id}>{name}</label>
        {required ? <b class="schema-required">required</b> : null}
        <p class="schema-limits">
          {placeWords[where]} · {typeOf(document, schema)}
        </p>
      </div>
      <div>
        {choices === undefined ? (
          <input {...shared} onInput={({ currentTarget }) => onValue(currentTarget.value)} />
        ) : (
          <select {...shared} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
            {['', ...choices].map((each) => (
              <option key={each} value={each}>
                {each === '' ? 'left out' : each}
              </option>
            ))}
          </select>
        )}
        <div id={`${id}-what`}>
          <p class="note">{description}</p>
          <Limits document={document} schema={schema} />
        </div>
      </div>
    </div>
  );
}

const withoutUser = 'without a user';

function Answer({ one }: { readonly one: Tried }) {
  const { answer, username } = one;
  const { status, headers, body, duration_ms } = answer;
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), [answer]);
  const text = readable(body);
  return (
    <section ref={place} class="answer-shown" aria-label="Answer">
      <p class="exchange-tools">
        <span role="status">
          <span class={`badge ${toneOf(status)}`}>{status}</span> {duration_ms} ms ·{' '}
          {counted(new Blob([body]).size, 'byte')} · {username === undefined ? withoutUser : `as ${username}`}
        </span>
        <CopyButton text={text} label="Copy answer" />
      </p>
      {status === 401 ? (
        <p class="note">A token is good for one hour. Choose a user above to get another one.</p>
      ) : null}
      <Dispatches one={one} />
      {text === '' ? <p class="note">No body.</p> : <Json value={text} label="Body of the answer" />}
      <details class="raw">
        <summary>{counted(Object.keys(headers).length, 'header')}</summary>
        <Facts wide facts={Object.entries(headers)} />
      </details>
    </section>
  );
}

function Dispatches({ one }: { readonly one: Tried }) {
  const named = dispatchesOf(one);
  return named.length === 0 ? null : (
    <ul class="links">
      {named.map(({ did, dispatchId }) => (
        <li key={dispatchId}>
          <a href={addressOf('dispatches', `${did}/${dispatchId}`)}>Dispatch {dispatchId}</a> ·{' '}
          <a href={addressOf('inbox', '', { q: dispatchId })}>its messages on the phone</a>
        </li>
      ))}
    </ul>
  );
}

interface EarlierProps {
  readonly operationId: string;
  readonly shown: Tried | undefined;
  readonly onChoose: (one: Tried) => void;
}

function Earlier({ operationId, shown, onChoose }: EarlierProps) {
  const ones = useStore(tried).filter((one) => one.operationId === operationId);
  return ones.length === 0 || (ones.length === 1 && ones[0] === shown) ? null : (
    <fieldset class="action-line earlier">
      <legend>Tried before</legend>
      {ones.map((one) => (
        <button
          key={one.number}
          type="button"
          class="button"
          aria-pressed={one === shown}
          onClick={() => onChoose(one)}
        >
          <span class={`badge ${toneOf(one.answer.status)}`}>{one.answer.status}</span> {timeOf(one.atMs)}{' '}
          {one.username ?? withoutUser}
        </button>
      ))}
    </fieldset>
  );
}

function readable(body: string): string {
  const json = parsedJson(body);
  return json === undefined ? body : JSON.stringify(json, null, 2);
}
