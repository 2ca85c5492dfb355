import { join } from 'node:path';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { describe, expect, inject, it } from 'vitest';
import type { Consumption } from '../../infra/function-shapes/shape.ts';
import { functions } from '../../infra/functions.ts';
import { readLocalTemplate } from '../../infra/local/template.ts';
import { serviceApp } from '../../infra/service.ts';
import { pageTopicArn, type SettingChoice, settingChoices } from '../support/setting-choices.ts';
import { stacksOf } from '../support/stack-templates.ts';
import { synthesize } from '../support/synthesized.ts';

/* An app refuses some contexts, and its stacks follow rules. Other files test its templates with `stacksOf`. */

const names = Object.keys(functions);

describe('every synthesis', () => {
  const places = { bundlesDirectory: 'none', outputDirectory: 'none' };

  it.each([
    ['a bad value', { stage: 'Prod' }, 'the context value stage must be'],
    ['too little concurrency', { dispatchMaximumConcurrency: 900 }, 'the context value accountConcurrency is 1000'],
    ['a share below its workers', { dispatchReservedConcurrency: 199 }, 'may start 200 workers'],
    ['a topic of another region', { pageTopicArn }, 'pageTopicArn names a topic in eu-west-1'],
    ['a certificate of another region', settingChoices.address, 'certificateArn names a certificate in eu-west-1'],
    ['half a public address', { domainName: 'api.example.com' }, 'domainName needs certificateArn beside it'],
  ])('refuses %s', (_, context, sentence) => {
    expect(() => serviceApp({ ...places, region: 'us-east-1', context })).toThrow(sentence);
  });
});

it.each(Object.keys(settingChoices))(
  'the local stack knows all functions of CloudFormation in the choice %s',
  (choice) => {
    const cdkOutDirectory = join(inject('assembliesDirectory'), choice);
    const template = readLocalTemplate({ cdkOutDirectory, queueUrl: (name) => name });
    expect(Object.keys(template.functions)).toHaveLength(
      stacksOf(choice as SettingChoice).all('AWS::Lambda::Function').length,
    );
  },
);

describe('what was built', () => {
  const without = (missing: string) => names.filter((name) => name !== missing);

  it.each(['authorizer', 'templates-sync-worker', 'messages-sweep', 'messages-dispatch'])(
    'a missing %s is refused: it belongs to no route that could come later',
    (name) => {
      expect(() => synthesize({}, without(name))).toThrow(`holds no bundle of ${name}: run npm run build first`);
    },
  );

  it('a bundle without a shape is refused', () => {
    expect(() => synthesize({}, [...names, 'surprise'])).toThrow(
      'the function surprise has no entry in infra/functions.ts',
    );
  });

  it('leaves a route out while its function is missing', () => {
    const routes = synthesize({}, without('templates-list')).all('AWS::ApiGatewayV2::Route');
    const keys = routes.map(({ properties }) => properties.RouteKey);
    expect(keys).not.toContain('GET /v1/templates');
    expect(keys).toContain('GET /health');
  });
});

describe('what functions use', () => {
  it('a queue that no function consumes is refused', () => {
    const watch = functions['spend-count'] as { consumes?: Consumption };
    const { consumes } = watch;
    delete watch.consumes;
    try {
      expect(() => synthesize()).toThrow('no function in infra/functions.ts consumes the queue counts');
    } finally {
      Object.assign(watch, { consumes });
    }
  });

  it('is exported when the last function that uses it goes: tables, secrets and queues', () => {
    const before = Object.entries(functions).map(([name, shape]) => [name, { ...shape }] as const);
    try {
      for (const shape of Object.values(functions)) {
        const { consumes } = shape;
        const alone = consumes === undefined ? {} : { consumes: { ...consumes, postpones: undefined } };
        Object.assign(shape, { tables: {}, secrets: [], sendsTo: [], ...alone });
      }
      const unused = synthesize(settingChoices.plain);
      // The dashboard knows these resources by name only, because rights name ARNs.
      const imported = [...unused.importedNames].filter((name) => /GetAttTable|Secret/.test(name));
      expect(imported).toEqual([]);
      expect(unused.exports).toEqual(stacksOf('plain').exports);
    } finally {
      for (const [name, shape] of before) Object.assign(functions[name] ?? {}, shape);
    }
  });
});

describe('rule packs (R45)', () => {
  it('of CloudFormation are kept where no setting is given', () => {
    expect(() => synthesize(settingChoices.plain, names, true)).not.toThrow();
  });

  it('find nothing that is not answered with a reason, in any part that a setting brings', () => {
    const { app } = synthesize(settingChoices.whole, names, true);
    for (const Pack of [AwsSolutionsChecks, ServerlessChecks]) {
      expect(new Pack(app).validateScope(app).violations).toEqual([]);
    }
  });
});
