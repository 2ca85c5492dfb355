import {
  type Answer,
  type Content,
  type Document,
  exampleOf,
  type RefusalText,
  refusalsOf,
  resolved,
} from './openapi.ts';
import { CopyButton, Facts, Json } from './parts.tsx';
import { Fields } from './reference-fields.tsx';

/** Shows answers by status: fields and an example, or codes with cause and remedy. */
export function Answers({ document, responses }: AnswersProps) {
  return (
    <div class="answers">
      {Object.entries(responses).map(([status, answer]) => (
        <AnswerOf key={status} document={document} status={status} answer={resolved(document, answer)} />
      ))}
    </div>
  );
}

interface AnswersProps {
  readonly document: Document;
  readonly responses: Readonly<Record<string, Answer>>;
}

function AnswerOf({ document, status, answer }: Omit<AnswersProps, 'responses'> & { status: string; answer: Answer }) {
  const codes = refusalsOf(document, answer);
  const isGood = status.startsWith('2') || status.startsWith('3');
  const names = codes.map(({ code }) => code).join(', ');
  // The gateway answers some of these statuses too, without a code.
  const isMixed = Object.values(answer.content ?? {}).some(
    ({ schema }) => schema !== undefined && resolved(document, schema).anyOf !== undefined,
  );
  return (
    <details class="answer" open={status.startsWith('2')}>
      <summary>
        <span class={`badge ${toneOf(status)}`}>{status}</span>{' '}
        {codes.length === 0 || isMixed ? answer.description : names}
      </summary>
      {codes.length === 0 ? null : <Refusals codes={codes} />}
      {isGood ? <Bodies document={document} content={answer.content ?? {}} what={`answer ${status}`} /> : null}
      <Headers document={document} answer={answer} />
    </details>
  );
}

export function toneOf(status: string | number): string {
  return { 2: 'good', 3: 'plain', 4: 'warn' }[String(status)[0] ?? ''] ?? 'bad';
}

/** `ofAll` adds the status of each code. */
export function Refusals({
  codes,
  ofAll = false,
}: {
  readonly codes: readonly RefusalText[];
  readonly ofAll?: boolean;
}) {
  return (
    <dl class="refusals">
      {codes.map(({ code, status, title, cause, remedy }) => (
        <div key={code}>
          <dt>
            <code>{code}</code>
            {ofAll ? <span class="note">{status}</span> : null}
          </dt>
          <dd>
            <strong>{title}.</strong> {cause}
            <p class="remedy">{remedy}</p>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows fields and first example of a body, for each media type. */
export function Bodies({ document, content, what }: BodiesProps) {
  return (
    <>
      {Object.entries(content).map(([type, { schema, examples }]) => {
        const example = exampleOf(examples);
        return (
          <div key={type} class="body-of">
            <p class="note">{type}</p>
            {schema === undefined ? null : <Fields document={document} schema={schema} />}
            {example === '' ? null : (
              <>
                <p class="exchange-tools">
                  <span class="note">Example</span>
                  <CopyButton text={example} label="Copy example" />
                </p>
                <Json value={example} label={`Example, ${what}, ${type}`} />
              </>
            )}
          </div>
        );
      })}
    </>
  );
}

interface BodiesProps {
  readonly document: Document;
  readonly content: Content;
  readonly what: string;
}

function Headers({ document, answer }: { readonly document: Document; readonly answer: Answer }) {
  const headers = Object.entries(answer.headers ?? {});
  return headers.length === 0 ? null : (
    <details class="raw">
      <summary>Headers</summary>
      <Facts wide facts={headers.map(([name, header]) => [name, resolved(document, header).description])} />
    </details>
  );
}
