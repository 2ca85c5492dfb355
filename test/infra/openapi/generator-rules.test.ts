import { describe, expect, test } from 'vitest';
import { refusalCodes } from '../../../lib/http/refusal.ts';
import { reportedStates } from '../../../lib/messages/receipts/reported-state.ts';
import { templateCategories } from '../../../lib/platform/enums.ts';
import { eventTypes } from '../../../lib/webhooks/event.ts';
import { escaped, openApi } from '../../support/openapi.ts';

/*
 * Client generators need more of functions/openapi.json than validity (D48). Each rule must also find its fault in a
 * broken copy of the document.
 */

// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
type Json = any;

interface Place {
  readonly at: string;
  readonly value: Json;
}

/** Returns every object of the document with its path, except those in examples. */
function placesIn(value: Json, at = ''): Place[] {
  if (value === null || typeof value !== 'object') return [];
  const inside = Object.entries(value).filter(([key]) => key !== 'examples' && key !== 'x-refusals');
  return [{ at, value }, ...inside.flatMap(([key, each]) => placesIn(each, `${at}/${escaped(key)}`))];
}

const where = (places: readonly Place[], isFault: (value: Json) => boolean) =>
  places.filter(({ value }) => isFault(value)).map(({ at }) => at);

function operationsIn(document: Json): Place[] {
  return Object.entries({ ...document.paths, ...document.webhooks }).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, value]) => ({ at: `${method} ${path}`, value })),
  );
}

/** Returns the names of the schemas that these parts refer to, directly or through others. */
function reachedFrom(document: Json, roots: readonly Json[]): Set<string> {
  const found = new Set<string>();
  const follow = (root: Json): void => {
    for (const { value } of placesIn(root)) {
      const name = String(value.$ref ?? '').replace('#/components/schemas/', '');
      if (document.components.schemas[name] === undefined || found.has(name)) continue;
      found.add(name);
      follow(document.components.schemas[name]);
    }
  };
  for (const root of roots) follow(root);
  return found;
}

/** The service tells answers, and the bodies of events. */
function told(document: Json): Place[] {
  const roots = [
    ...operationsIn(document).map(({ value }) => value.responses),
    ...Object.values(document.webhooks),
    document.components.responses,
  ];
  const names = reachedFrom(document, roots);
  return [
    ...roots.flatMap((root) => placesIn(root)),
    ...[...names].flatMap((name) => placesIn(document.components.schemas[name], name)),
  ];
}

function resolved(document: Json, thing: Json): Json {
  const [, , kind, name] = String(thing?.$ref ?? '').split('/');
  return kind === undefined || name === undefined ? thing : document.components[kind][name];
}

const isNamed = (schema: Json) => /^#\/components\/schemas\/\w+$/.test(schema?.$ref ?? '');
const isJson = ([type]: [string, unknown]) => type !== 'text/plain';

function unnamedBodies(document: Json): string[] {
  return operationsIn(document).flatMap(({ at, value }) => {
    const good = Object.entries(value.responses as Record<string, Json>).filter(([status]) => /^2\d\d$/.test(status));
    const contents = [['body', value.requestBody], ...good].flatMap(([name, each]) =>
      Object.entries((each?.content ?? {}) as Record<string, Json>)
        .filter(isJson)
        .map(([type, { schema }]) => ({ what: `${at} ${name} ${type}`, schema })),
    );
    return contents.filter(({ schema }) => !isNamed(schema)).map(({ what }) => what);
  });
}

/** Returns fields that are no enumeration, or have other values than these. */
function notWords(document: Json, names: readonly string[], words: readonly string[]): string[] {
  return names.filter((name) => {
    const [schema = '', ...fields] = name.split('.');
    const field = fields.reduce(
      (holder, key) => resolved(document, holder).properties[key],
      document.components.schemas[schema],
    );
    const list = resolved(document, field);
    const found = resolved(document, list?.items ?? list)?.enum ?? [];
    return [...found].sort().join() !== [...words].sort().join();
  });
}

function wordsOfParameter(document: Json, operationId: string, name: string): unknown {
  const operation = operationsIn(document).find(({ value }) => value.operationId === operationId)?.value;
  const { schema } = operation.parameters.find((each: Json) => each.name === name);
  return resolved(document, schema.items ?? schema).enum;
}

const prices = ['Authentication', 'Marketing', 'Utility', 'Service'];
const componentTypes = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'];
const gatewayOnly = (response: Json) => response['x-codes']?.length === 0;
const isMixed = (response: Json) =>
  response.content?.['application/json']?.schema.$ref?.endsWith('/RefusalOrGatewayError');

/** Each rule stands beside a change to the document that breaks it. */
const rules: Readonly<
  Record<string, { readonly faults: (document: Json) => unknown[]; readonly broken: (document: Json) => void }>
> = {
  'a header or a parameter is no constant': {
    faults: (document) => [
      ...where(
        operationsIn(document).flatMap(({ at, value }) => placesIn(value.parameters, at)),
        (value) => 'const' in value,
      ),
      ...where(placesIn(document.components.headers), (value) => 'const' in value),
    ],
    broken: (document) => {
      const { parameters } = document.paths['/v1/template/messages/{did}'].post;
      parameters.find((each: Json) => each.name === 'Dry-Run').schema = { type: 'string', const: 'true' };
    },
  },
  'codes are a plain enum, with texts beside': {
    faults: ({ components: { schemas } }) => {
      const { enum: codes, oneOf, 'x-refusals': texts, type } = schemas.RefusalCode;
      const isPlain = type === 'string' && oneOf === undefined && codes?.join() === refusalCodes.join();
      const untold = refusalCodes.filter((code) => !texts?.[code]?.cause || !texts[code].remedy || !texts[code].title);
      return isPlain ? untold : ['RefusalCode', ...untold];
    },
    broken: ({ components: { schemas } }) => {
      const { enum: codes } = schemas.RefusalCode;
      schemas.RefusalCode.oneOf = codes.map((code: string) => ({ const: code }));
    },
  },
  'no schema is null alone': {
    faults: (document) => where(placesIn(document), ({ type }) => type === 'null'),
    broken: ({ components: { schemas } }) => {
      schemas.TemplateList.properties.paging = { type: 'null' };
    },
  },
  'the file of a form is binary, and a form is shown': {
    faults: (document) => {
      const forms = operationsIn(document).flatMap(({ at, value }) => {
        const form = value.requestBody?.content['multipart/form-data'];
        return form === undefined ? [] : [{ at, form }];
      });
      if (forms.length < 2) return ['fewer forms than a creation and an edit have'];
      return forms.flatMap(({ at, form: { schema, examples } }) => {
        const { file } = resolved(document, schema).properties;
        const { value, description } = examples?.form ?? {};
        return [
          ...(file.type === 'string' && file.format === 'binary' ? [] : [`${at}: file`]),
          ...(value?.template?.components !== undefined && value.file !== undefined ? [] : [`${at}: example`]),
          ...(/^curl .*-F 'template=.*-F 'file=/.test(description ?? '') ? [] : [`${at}: how it is sent`]),
        ];
      });
    },
    broken: ({ components: { schemas } }) => {
      schemas.EditTemplateForm.properties.file = { type: 'string', contentMediaType: 'application/octet-stream' };
    },
  },
  'an answer that the gateway may give promises no header of ours': {
    faults: (document) =>
      Object.entries(document.components.responses as Record<string, Json>).flatMap(([name, response]) => {
        const sent = Object.entries((response.headers ?? {}) as Record<string, Json>);
        if (gatewayOnly(response)) return sent.map(([header]) => `${name}: ${header}`);
        if (!isMixed(response)) return [];
        return sent.filter(([, each]) => resolved(document, each).required).map(([header]) => `${name}: ${header}`);
      }),
    broken: ({ components: { responses } }) => {
      responses['caller-401-unauthorized'].headers['X-Request-Id'] = { $ref: '#/components/headers/X-Request-Id' };
      responses['caller-431'].headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
    },
  },
  'words are enums: categories, formats of parameters, states, kinds of events': {
    faults: (document) => [
      ...notWords(document, ['CreateTemplateRequest.category', 'EditTemplateRequest.category'], templateCategories),
      ...notWords(document, ['PlatformTemplate.category', 'PlatformTemplate.previous_category'], templateCategories),
      ...notWords(document, ['CreatedTemplate.category', 'TemplateCreatedEvent.data.category'], templateCategories),
      ...notWords(document, ['CreateTemplateRequest.parameter_format'], ['positional']),
      ...notWords(document, ['ReportRow.state'], reportedStates),
      ...notWords(document, ['Price.category'], prices),
      ...notWords(document, ['WebhookConfig.events', 'WebhookConfigRequest.events'], eventTypes),
      ...(
        [
          ['templates-list', 'category'],
          ['templates-list', 'state'],
          ['messages-report', 'state'],
          ['pricing-get', 'category'],
        ] as const
      ).filter(([operation, name]) => wordsOfParameter(document, operation, name) === undefined),
    ],
    broken: (document) => {
      document.components.schemas.WebhookConfig.properties.events.items = { type: 'string' };
      const { parameters } = document.paths['/v1/pricing'].get;
      parameters.find((each: Json) => each.name === 'category').schema = { type: 'string' };
    },
  },
  'components are a union of typed components': {
    faults: (document) => {
      const { components, TemplateComponent } = {
        components: document.components.schemas.CreateTemplateRequest.properties.components,
        ...document.components.schemas,
      };
      const union: Json[] = TemplateComponent?.anyOf ?? [];
      const types = union.flatMap((each) => resolved(document, each).properties?.type?.enum ?? []);
      return [
        ...(components.items?.$ref === '#/components/schemas/TemplateComponent' ? [] : ['components']),
        ...union.filter((each) => !isNamed(each)),
        ...componentTypes.filter((type) => !types.includes(type)),
      ];
    },
    broken: ({ components: { schemas } }) => {
      schemas.TemplateComponent.anyOf.pop();
    },
  },
  'bodies and good answers have names': {
    faults: unnamedBodies,
    broken: (document) => {
      const { content } = document.paths['/health'].get.responses['200'];
      content['application/json'].schema = { type: 'object' };
    },
  },
  'answers and events are open to later fields': {
    faults: (document) =>
      where(told(document), (value) => value.additionalProperties === false || 'unevaluatedProperties' in value),
    broken: ({ components: { schemas } }) => {
      schemas.ReportRow.additionalProperties = false;
    },
  },
  'a send leads to its report, a creation to the template': {
    faults: (document) => {
      const ids = new Map(operationsIn(document).map(({ value }) => [value.operationId, value]));
      const links = [...ids].flatMap(([id, { responses }]) =>
        Object.values((responses['200']?.links ?? {}) as Record<string, Json>).map((link) => ({ id, link })),
      );
      const stray = links.flatMap(({ id, link: { operationId, parameters } }) => {
        const known = (ids.get(operationId)?.parameters ?? []).map(({ name }: Json) => name);
        return Object.keys(parameters)
          .filter((name) => !known.includes(name))
          .map((name) => `${id}: ${name}`);
      });
      const pairs = links.map(({ id, link: { operationId } }) => `${id} ${operationId}`);
      const wanted = [
        'messages-send messages-report',
        'templates-create templates-list',
        'templates-list templates-get',
      ];
      return [...stray, ...wanted.filter((pair) => !pairs.includes(pair))];
    },
    broken: (document) => {
      const { links } = document.paths['/v1/template/messages/{did}'].post.responses['200'];
      links.report.parameters = { dispatch: '$response.header.Dispatch-Id' };
    },
  },
};

describe.each(Object.entries(rules))('%s', (_, { faults, broken }) => {
  test('in the document', () => {
    expect(faults(openApi), 'after a change of a schema or a code, first run npm run openapi').toEqual([]);
  });

  test('a document that breaks the rule is found', () => {
    const document = structuredClone(openApi);
    broken(document);
    expect(faults(document)).not.toEqual([]);
  });
});
