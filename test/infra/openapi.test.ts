import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it, test } from 'vitest';
import { openApiDocument } from '../../infra/openapi/document.ts';
import fieldTexts from '../../infra/openapi/field-texts.json' with { type: 'json' };
import { operations } from '../../infra/openapi/operations/all.ts';
import { parameterTexts } from '../../infra/openapi/parameters.ts';
import { routes } from '../../infra/routes.ts';
import { refusalCodes, statusOf } from '../../lib/http/refusal.ts';
import { eventTypes } from '../../lib/webhooks/event.ts';
import { eventFaults } from '../support/documented.ts';
import { openApi, operationOf } from '../support/openapi.ts';
import { shownElsewhere } from '../support/shown-elsewhere.ts';

const file = 'functions/openapi.json';

it('is checked in as it is made today (`npm run openapi` makes it)', () => {
  expect(readFileSync(file, 'utf8') === openApiDocument(), `${file} is stale: npm run openapi`).toBe(true);
});

it('is of the version that the packages have, and that the changes speak of first', () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const others = ['.', 'test/examples/typescript'].flatMap((folder) => {
    const { version, packages } = read(`${folder}/package-lock.json`);
    return [version, packages[''].version, read(`${folder}/package.json`).version];
  });
  others.push(/^## (\S+)$/m.exec(readFileSync('infra/CHANGELOG.md', 'utf8'))?.[1]);
  expect(new Set(others)).toEqual(new Set([openApi.info.version]));
});

it('a linter finds nothing to warn of', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    // `GET /r/{code}` answers with a redirect only.
    rules: { 'operation-2xx-response': 'off', 'operation-4xx-response': 'error', 'parameter-description': 'error' },
  });
  const problems = await lintFromString({ source: readFileSync(file, 'utf8'), absoluteRef: file, config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

it('the linter would find an example that is not of its schema', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const source = readFileSync(file, 'utf8').replaceAll('"market": "AR"', '"market": 5');
  const problems = await lintFromString({ source, absoluteRef: file, config });
  expect(problems.map(({ ruleId }) => ruleId)).toContain('no-invalid-media-type-examples');
});

describe('coverage', () => {
  test('every route, and nothing that is no route', () => {
    expect(Object.keys(operations).toSorted()).toEqual(routes.map(({ operation }) => operation).toSorted());
    const documented = Object.values(openApi.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
      (methods) => Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(documented.toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  test('every code is refused with by some route, under its status', () => {
    const used = new Set(Object.values(operations).flatMap(({ refusals }) => refusals));
    const remedy = 'name the code in `refusals` of a route in infra/openapi/operations/';
    expect(
      refusalCodes.filter((code) => !used.has(code)),
      remedy,
    ).toEqual([]);
    const texts = openApi.components.schemas.RefusalCode['x-refusals'];
    expect(refusalCodes.filter((code) => texts[code].status !== statusOf(code))).toEqual([]);
  });

  test.each(routes)('$method $path: its statuses, its security and an example of each answer', (route) => {
    const { operation } = operationOf(route);
    const said = operations[route.operation];
    const refused = new Set(said?.refusals.map(statusOf));
    for (const status of refused) expect(operation.responses[status], String(status)).toBeDefined();
    expect(operation).toMatchObject({ security: route.public === true ? [] : [{ token: [] }] });
    const shown = new Set(Object.values(said?.examples ?? {}).map(({ status }) => String(status)));
    expect([...shown]).toEqual(Object.keys(said?.answers ?? {}));
    if (route.public !== true) expect([...refused]).toEqual(expect.arrayContaining([401, 403, 429, 500, 502]));
  });

  test('answers that no contract test can cause are shown by another test', () => {
    const documented = Object.entries(operations).flatMap(([name, { refusals }]) =>
      refusals.map((code) => `${name} ${statusOf(code)} ${code}`),
    );
    for (const { answer, code, by } of shownElsewhere) {
      expect(
        documented.filter((each) => answer.test(each) && each.endsWith(` ${code}`)),
        String(answer),
      ).not.toEqual([]);
      expect(readFileSync(by, 'utf8').includes(code), `${by} shows ${code}`).toBe(true);
    }
  });

  test('what is said of parameters is said of some', () => {
    const named = routes.flatMap((route) =>
      [operations[route.operation]?.path, operations[route.operation]?.query, operations[route.operation]?.headers]
        .map((each) => each?.entries)
        .flatMap((entries) => Object.keys(entries ?? {}))
        .flatMap((name) => [name, `${route.operation}.${name}`]),
    );
    expect(Object.keys(parameterTexts).filter((name) => !named.includes(name))).toEqual([]);
  });

  test('every kind of event, each with an example', () => {
    expect(Object.keys(openApi.webhooks)).toEqual(eventTypes);
    for (const type of eventTypes) {
      const content = openApi.webhooks[type].post.requestBody.content['application/json'];
      expect(eventFaults(JSON.stringify(content.examples.delivery.value))).toEqual([]);
    }
  });
});

function fieldsIn(value: unknown, place: string): { readonly place: string; readonly description: unknown }[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...(key === 'properties'
      ? Object.entries(each as Record<string, { description?: unknown }>).map(([name, { description }]) => ({
          place: `${place}.${name}`,
          description,
        }))
      : []),
    ...fieldsIn(each, `${place}/${key}`),
  ]);
}

describe('each field has a description', () => {
  const { schemas } = openApi.components;
  const fields = fieldsIn({ schemas, paths: openApi.paths, webhooks: openApi.webhooks }, '');

  test('none is left out', () => {
    expect(
      fields.filter(({ description }) => !/^\S.{3,}$/.test(String(description))).map(({ place }) => place),
    ).toEqual([]);
    expect(fields.length).toBeGreaterThan(500);
  });

  test('and no text is of a field that is not there', () => {
    const told = new Set(fields.map(({ description }) => description));
    expect(Object.entries(fieldTexts).filter(([, text]) => !told.has(text))).toEqual([]);
  });
});
