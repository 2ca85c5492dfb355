import packageFile from '../../package.json' with { type: 'json' };
import { routes } from '../routes.ts';
import { deliveryDocument } from './event-document.ts';
import { eventSchemaName, events } from './events.ts';
import { described } from './field-descriptions.ts';
import { formSchemas } from './form-document.ts';
import { headerComponents } from './headers.ts';
import { type JsonSchema, jsonSchemas } from './json-schema.ts';
import { answerSchemas, requestSchemas } from './named-schemas.ts';
import { tags } from './operation.ts';
import { operationDocument } from './operation-document.ts';
import { operations } from './operations/all.ts';
import { documentedPath } from './paths.ts';
import { RefusalResponses, refusalCodeSchema, refusalSchemas } from './refusal-document.ts';

/** Returns the OpenAPI 3.1 document of the interface, as text (D48). */
export function openApiDocument(): string {
  return `${JSON.stringify(openApi(), null, 2)}\n`;
}

function openApi() {
  const request = jsonSchemas(requestSchemas, 'request');
  const answer = jsonSchemas(answerSchemas, 'answer');
  const refusals = new RefusalResponses();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const operation = operations[route.operation];
    if (operation === undefined) throw new Error(`there is no description of the operation ${route.operation}`);
    const path = documentedPath(route.path);
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationDocument(route, operation, { request, answer, refusals }),
    };
  }
  return {
    openapi: '3.1.1',
    info,
    servers,
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(events.map((event) => [event.type, deliveryDocument(event, answer)])),
    components: {
      securitySchemes: { token },
      headers: headerComponents(answer),
      responses: refusals.components(),
      schemas: {
        ...allDescribed({
          ...answer.components(),
          ...request.components(),
          ...formSchemas(Object.values(operations), ({ schema }) => request.of(schema)),
          ...refusalSchemas(answer),
        }),
        RefusalCode: refusalCodeSchema(),
      },
    },
  };
}

function allDescribed(schemas: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const ofEvents = new Set(events.map(({ type }) => eventSchemaName(type)));
  return described(schemas, (name) => (ofEvents.has(name) ? 'event' : name));
}

const info = {
  title: 'Template Messaging Service',
  version: packageFile.version,
  summary: 'Sends approved message templates, and manages them.',
  description:
    'Made from the schemas that parse the requests and shape the answers. Later versions may add fields to answers and events; a code never changes its meaning. Where a schema has x-any-letter-case, a request may spell its words in any letter case; where it has x-others-may-come, words may come that are not listed.',
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
};

const servers = [
  {
    url: 'https://{host}',
    description: 'A deployed stage: the host that npm run deploy prints.',
    variables: { host: { default: 'messaging.example.org' } },
  },
  { url: 'http://127.0.0.1:3000', description: 'The local stack (npm start)' },
];

const token = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The access_token of POST /login, good for one hour.',
};
