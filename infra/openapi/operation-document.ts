import type * as v from 'valibot';
import type { RouteEntry } from '../routes.ts';
import { formContent } from './form-document.ts';
import { ownHeaders, references } from './headers.ts';
import { type jsonSchemas, withoutConstant } from './json-schema.ts';
import type { AnswerDocument, OperationDocument } from './operation.ts';
import { parameterTexts } from './parameters.ts';
import { documentedParameter } from './paths.ts';
import type { RefusalResponses } from './refusal-document.ts';

type Schemas = ReturnType<typeof jsonSchemas>;
interface Parts {
  readonly request: Schemas;
  readonly answer: Schemas;
  readonly refusals: RefusalResponses;
}

export function operationDocument(
  route: RouteEntry,
  operation: OperationDocument,
  { request, answer, refusals }: Parts,
) {
  const isPublic = route.public === true;
  const facts = { name: route.operation, path: route.path, operation, request };
  const parameters = [
    ...parametersOf('path', operation.path?.entries, facts),
    ...parametersOf('query', operation.query?.entries, facts),
    ...parametersOf('header', operation.headers?.entries, facts),
  ];
  return {
    operationId: route.operation,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: isPublic ? [] : [{ token: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    requestBody: operation.body && requestBody(operation, request),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([status, each]) => [
          status,
          response(Number(status), each, { operation, answer, isPublic }),
        ]),
      ),
      ...refusals.of(operation.refusals, { isPublic }),
    },
  };
}

interface Said {
  readonly name: string;
  readonly path: string;
  readonly operation: OperationDocument;
  readonly request: Schemas;
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  entries: Readonly<Record<string, v.GenericSchema>> | undefined,
  { name: operationName, path, operation, request }: Said,
) {
  return Object.entries((entries ?? {}) as Record<string, v.GenericSchema>).map(([name, entry]) => {
    const description = parameterTexts[`${operationName}.${name}`] ?? parameterTexts[name];
    if (description === undefined)
      throw new Error(`there is no description of the parameter ${name} of ${operationName}`);
    const schema = withoutConstant(request.of(entry));
    const examples = examplesOf(operation, ({ parameters }) => parameters?.[name]);
    return {
      name: place === 'path' ? documentedParameter(path, name) : name,
      in: place,
      description,
      required: place === 'path' || !/optional/.test(entry.type),
      ...(schema['type'] === 'array' ? { style: 'form', explode: false } : {}),
      schema,
      examples,
    };
  });
}

function requestBody(operation: OperationDocument, request: Schemas) {
  const { schema: valibotSchema, optional, form } = operation.body ?? never();
  const schema = request.of(valibotSchema);
  const examples = examplesOf(operation, ({ body }) => body);
  return {
    required: optional !== true,
    content: {
      'application/json': { schema, examples },
      ...(form === undefined ? {} : { 'multipart/form-data': formContent(form) }),
    },
  };
}

interface AnswerOf {
  readonly operation: OperationDocument;
  readonly answer: Schemas;
  readonly isPublic: boolean;
}

function response(
  status: number,
  { description, schema, text, csv, headers = [], links }: AnswerDocument,
  { operation, answer, isPublic }: AnswerOf,
) {
  const names = [...ownHeaders({ isPublic }), ...headers];
  const examples = examplesOf(operation, (example) => (example.status === status ? example.answer : undefined));
  const shown = examples === undefined ? {} : { examples };
  const content = {
    ...(schema === undefined ? {} : { 'application/json': { schema: answer.of(schema), ...shown } }),
    ...(text === true ? { 'text/plain': { schema: { type: 'string' }, ...shown } } : {}),
  };
  return {
    description,
    headers: references(names),
    ...(Object.keys(content).length === 0 ? {} : { content }),
    links,
    'x-text-csv': csv,
  };
}

type Example = OperationDocument['examples'][string];

function examplesOf(operation: OperationDocument, part: (example: Example) => unknown) {
  const named = Object.entries(operation.examples)
    .map(([name, example]) => [name, { summary: example.summary, value: part(example) }] as const)
    .filter(([, { value }]) => value !== undefined);
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

function never(): never {
  throw new Error('an operation without a body has no request body');
}
