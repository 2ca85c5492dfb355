import { expect, test } from 'vitest';
import queries from '../../infra/log-queries.json' with { type: 'json' };
import { logEvents } from '../../lib/observe/log.ts';
import { documentOf, namesIn, sectionsOf } from '../support/documents.ts';
import { stacksOf } from '../support/stack-templates.ts';

const { stateful, stateless } = stacksOf('plain');
const saved = stateless.filter(({ type }) => type === 'AWS::Logs::QueryDefinition').map(({ properties }) => properties);
const all = Object.entries(queries);

test('each query is saved with its stage, over logs that there are', () => {
  const groups = stateful.filter(({ type }) => type === 'AWS::Logs::LogGroup').map(({ properties }) => properties);
  const names = new Set(groups.map(({ LogGroupName }) => LogGroupName));
  expect(saved.map(({ Name }) => Name).toSorted()).toEqual(
    all.map(([name]) => `template-messaging-test-queries/${name}`).toSorted(),
  );
  for (const { LogGroupNames } of saved) {
    expect(LogGroupNames.length).toBeGreaterThan(0);
    expect(LogGroupNames.filter((name: string) => !names.has(name))).toEqual([]);
  }
});

test('a query asks for events that are logged, and for fields of the access log that are written', () => {
  const stage = stateless.find(({ type }) => type === 'AWS::ApiGatewayV2::Stage');
  const written = Object.keys(JSON.parse(stage?.properties.AccessLogSettings.Format));
  for (const [, { logs, query }] of all) {
    if (logs.includes('api-access')) {
      const asked = query.match(/\b(?:clientId|routeKey|status|sourceIp|responseLatency)\b/g) ?? [];
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.filter((name) => !written.includes(name))).toEqual([]);
      continue;
    }
    const events = [...query.matchAll(/"([a-z]+\.[a-z_]+)"/g)].map(([, event]) => event);
    expect(events.filter((event) => !(logEvents as readonly (string | undefined)[]).includes(event))).toEqual([]);
  }
});

test('the book of logs names each; what it tells and its text are in the file of queries and in Logs Insights', () => {
  const named = namesIn(sectionsOf(documentOf('infra/operate/LOGS.md')).get('Logs') ?? '');
  expect(named.filter((name) => /^[a-z]+(?:-[a-z]+)+$/.test(name))).toEqual(all.map(([name]) => name));
  expect(all.filter(([, { what }]) => what.trim() === '')).toEqual([]);
});
