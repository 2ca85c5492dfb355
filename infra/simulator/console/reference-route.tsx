import type { Document, Operation } from './openapi.ts';
import { CopyButton, Facts } from './parts.tsx';
import { Answers, Bodies } from './reference-answers.tsx';
import { isSigned } from './reference-request.ts';
import { TryIt } from './reference-try.tsx';
import { addressOf } from './router.ts';
import { SignIn } from './sign-in.tsx';

interface RouteProps {
  readonly document: Document;
  readonly operation: Operation;
}

export function Route({ document, operation }: RouteProps) {
  const { method, path, summary, description, responses = {}, requestBody } = operation;
  return (
    <>
      <div class="exchange-tools">
        <h2>
          <b class="method">{method}</b> {path}
        </h2>
        <CopyButton text={path} label="Copy path" />
      </div>
      <p class="route-what">
        <strong>{summary}.</strong> {description}
      </p>
      {isSigned(operation) ? <SignIn /> : null}
      <TryIt document={document} operation={operation} />
      {requestBody === undefined ? null : (
        <>
          <h3>Body</h3>
          <Bodies document={document} content={withoutExamples(requestBody.content)} what="body" />
        </>
      )}
      <h3>Answers</h3>
      <Answers document={document} responses={responses} />
    </>
  );
}

/** Drops the examples, because the form already shows one. */
function withoutExamples(content: NonNullable<Operation['requestBody']>['content']) {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [type, schema === undefined ? {} : { schema }]),
  );
}

/** Shows what the client's webhook receives of an event, and its expected answer. */
export function Event({ document, operation }: RouteProps) {
  const { path, summary, description, parameters = [], responses = {}, requestBody } = operation;
  return (
    <>
      <h2>
        <b class="method">Event</b> {path}
      </h2>
      <p class="route-what">
        <strong>{summary}.</strong> {description}
      </p>
      <p class="note">
        POSTed to the client's receiver. <code>infra/ops events trigger {path}</code> has the service send one, and the
        page <a href={addressOf('webhooks', '', { q: path })}>Webhooks</a> shows each attempt.
      </p>
      <h3>Headers</h3>
      <Facts wide facts={parameters.map(({ name, description: what }) => [name, what])} />
      <h3>Body</h3>
      <Bodies document={document} content={requestBody?.content ?? {}} what={`event ${path}`} />
      <h3>Answers of the receiver</h3>
      <Answers document={document} responses={responses} />
    </>
  );
}
