import type { Resource, Stacks } from './stack-templates.ts';

/* Templates are written as text for a reviewer: for each type what most resources have, then what each has of its own. */

/** The dashboard and saved queries have tests of their own; a route says its integration, and who may call follows. */
const leftOut = [
  'ApiGatewayV2::Integration',
  'CloudWatch::Dashboard',
  'Lambda::Permission',
  'Lambda::Version',
  'Logs::QueryDefinition',
].map((type) => `AWS::${type}`);

/** The facts of a resource by their names; the resources of a type by theirs; the types. */
type Facts = ReadonlyMap<string, string>;
type Cards = ReadonlyMap<string, ReadonlyMap<string, Facts>>;
const nothing: Facts = new Map();

/** Returns all that a template has, with one line for resources that differ in their names alone. */
export function templateText(stacks: Stacks): string {
  const sections = [...cardsOf(stacks)].map(([type, named]) => {
    const usual = usualOf([...named.values()]);
    const alike = Map.groupBy(named.keys(), (name) => differing(named.get(name) ?? nothing, usual).join('; '));
    const lines = [...alike].map(([facts, names]) => `  ${[names.join(' '), facts].filter(Boolean).join('; ')}`);
    return [[`${type} (${named.size})`, ...differing(usual, nothing)].join('; '), ...lines].join('\n');
  });
  return `${sections.join('\n\n')}\n`;
}

/** Returns what one template has beyond another: new and lost resources, and each new fact with those that have it. */
export function differenceText(before: Stacks, after: Stacks): string {
  const [old, now] = [cardsOf(before), cardsOf(after)];
  const sections = [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap((type) => {
    const [was, is] = [old.get(type) ?? new Map<string, Facts>(), now.get(type) ?? new Map<string, Facts>()];
    const usual = usualOf([...is.values()]);
    const fresh = [...is].filter(([name]) => !was.has(name));
    const kept = [...is].filter(([name]) => was.has(name));
    const changes = kept.flatMap(([name, facts]) =>
      differing(facts, was.get(name) ?? nothing).map((fact) => ({ name, fact })),
    );
    const lines = [
      ...[...was.keys()].filter((name) => !is.has(name)).map((name) => `  - ${name}`),
      ...fresh.map(([name, facts]) => `  + ${[name, ...differing(facts, usual)].join('; ')}`),
      ...[...Map.groupBy(changes, ({ fact }) => fact)].map(([fact, some]) => {
        const names = some.map(({ name }) => name).join(' ');
        return `  ${some.length === kept.length ? 'each' : names}: ${fact}`;
      }),
    ];
    return lines.length === 0 ? [] : [[type, ...lines].join('\n')];
  });
  return `${sections.join('\n\n')}\n`;
}

function differing(facts: Facts, from: Facts): string[] {
  const names = [...new Set([...facts.keys(), ...from.keys()])].toSorted();
  const changed = names.filter((name) => facts.get(name) !== from.get(name));
  return changed.map((name) => (facts.has(name) ? `${name} ${facts.get(name)}` : `no ${name}`));
}

/** Returns the facts that more than half of several resources have. */
function usualOf(all: readonly Facts[]): Facts {
  if (all.length === 1) return nothing;
  const pairs = Map.groupBy(
    all.flatMap((facts) => [...facts]),
    (pair) => JSON.stringify(pair),
  );
  return new Map([...pairs.values()].flatMap((same) => (2 * same.length > all.length ? same.slice(0, 1) : [])));
}

function cardsOf(stacks: Stacks): Cards {
  const { stateful, stateless, edge } = stacks;
  const resources = [...stateful, ...stateless, ...edge];
  const names = namesOf(resources, stacks);
  const roles = new Set(stacks.all('AWS::Lambda::Function').map(({ properties }) => stacks.target(properties.Role)));
  const isOfFunction = ({ id, type, properties }: Resource) =>
    roles.has(id) || (type === 'AWS::IAM::Policy' && roles.has(stacks.target(properties.Roles[0])));
  const shown = resources.filter((resource) => !leftOut.includes(resource.type) && !isOfFunction(resource));
  const owners = shown
    .filter(({ type }) => /::(?:Function|Queue|Table)$/.test(type))
    .map(({ id }) => names.get(id) ?? id)
    .toSorted((one, other) => other.length - one.length);
  const cards = [...Map.groupBy(shown, ({ type }) => type)].map(([type, some]) => {
    const named = some.map((resource) => {
      const name = names.get(resource.id) ?? resource.id;
      const owner =
        owners.find((each) => name === each || (/^[-:]/.test(name.slice(each.length)) && name.startsWith(each))) ??
        name;
      const isOwn = (word: string) => word === owner || word.startsWith(`${owner}-`);
      const facts = Object.entries(factsOf(resource, stacks, textOf)).map(([fact, value]) => [
        fact,
        value.replaceAll(/([@~])([\w-]+)/g, (all, sign, word) =>
          isOwn(word) ? `${sign}*${word.slice(owner.length)}` : all,
        ),
      ]);
      return [name, new Map(facts as [string, string][])] as const;
    });
    return [type, new Map(named)] as const;
  });
  return new Map([...standing(), ...cards.toSorted(([one], [other]) => (one < other ? -1 : 1))]);

  function standing(): [string, Map<string, Facts>][] {
    const ids = (['Stateful', 'Stateless', 'Edge'] as const).filter((_, at) => [stateful, stateless, edge][at]?.length);
    const facts = ids.map((id) => [id, new Map(Object.entries(stacks.standing(id)).map(([k, v]) => [k, textOf(v)]))]);
    return [
      ['Stacks', new Map(facts as [string, Facts][])],
      ['Outputs', new Map([['ApiUrl', new Map([['is', textOf(stacks.output('ApiUrl'))]])]])],
    ];
  }

  /** Writes values short: references by the names of resources, a name and its value as one. */
  function textOf(value: unknown): string {
    if (typeof value !== 'object' || value === null) return shortOf(String(value));
    if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
    const entries = Object.entries(value);
    const [[key, of] = ['', '']] = entries;
    if (key === 'Fn::Join') return of[1].map(textOf).join(of[0]);
    if (key === 'Ref' && of.startsWith('AWS::')) return of.replace('AWS::', '$');
    if (/^(?:Ref|Fn::GetAtt|Fn::ImportValue)$/.test(key)) return `@${names.get(stacks.target(value))}`;
    if ('Name' in value && 'Value' in value) return `${textOf(value.Name)}=${textOf(value.Value)}`;
    return `{${entries.map(([name, each]) => `${name}: ${textOf(each)}`).join(', ')}}`;
  }
}

const shortOf = (text: string) => text.replaceAll(/template-messaging[-/]test[-/]/g, '~');

const ofTypes = ['Function', 'Table', 'Queue', 'Alarm', 'LogGroup', ''].map((of) => `${of}Name`);
const naming = [...ofTypes, 'RouteKey', 'Description'];

/** These are named by the resource that they belong to. */
const named: Readonly<Record<string, string>> = {
  'AWS::Lambda::Alias': 'FunctionName',
  'AWS::Lambda::EventSourceMapping': 'EventSourceArn',
  'AWS::SQS::QueuePolicy': 'Queues',
};

/** Returns the names by logical id, which is the name of a resource that has none, or one that others have. */
function namesOf(resources: readonly Resource[], stacks: Stacks): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id, type, properties = {} } of resources) {
    // The hash of a version changes with the function.
    const plain = id.replace(/CurrentVersion\w+$/, 'CurrentVersion').replace(/[0-9A-F]{8}$/, '');
    const own = naming.map((each) => properties[each]).find((each) => typeof each === 'string');
    const of = named[type] && names.get(stacks.target([properties[named[type]]].flat()[0]));
    const name = shortOf([of, own].filter(Boolean).join(':') || plain)
      .replace(/^\/?~/, '')
      .replaceAll(' ', '_');
    names.set(id, taken.has(`${type} ${name}`) ? `${name}:${plain}` : name);
    taken.add(`${type} ${name}`);
  }
  return names;
}

type TextOf = (value: unknown) => string;

function factsOf(resource: Resource, stacks: Stacks, textOf: TextOf): Record<string, string> {
  const { type, properties = {}, deletionPolicy, updateReplacePolicy } = resource;
  const { facts = {}, instead = [] } = special[type]?.(properties, stacks, textOf) ?? {};
  const left = Object.entries(properties).filter(
    ([name, value]) => !(instead.includes(name) || (naming.includes(name) && typeof value === 'string')),
  );
  return {
    ...(deletionPolicy === undefined ? {} : { 'when deleted': `${deletionPolicy}/${updateReplacePolicy}` }),
    ...Object.fromEntries(left.map(([name, value]) => [name, textOf(value)])),
    ...facts,
  };
}

type Special = (
  properties: Resource['properties'],
  stacks: Stacks,
  textOf: TextOf,
) => { facts?: Record<string, string>; instead: string[] };

/** Some types have facts in the place of properties. */
const special: Readonly<Record<string, Special>> = {
  'AWS::Lambda::Function': ({ Environment, Role }, stacks, textOf) => ({
    facts: {
      // Names of tables, queues and most secrets follow from the rights.
      ...Object.fromEntries(
        Object.entries(Environment?.Variables ?? {}).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, textOf(value)]] : [],
        ),
      ),
      ...rightsOf(Role, stacks, textOf),
    },
    instead: ['Environment', 'Role', 'Code', 'LoggingConfig'],
  }),
  'AWS::CloudWatch::Alarm': (alarm, _stacks, textOf) => ({
    facts: {
      says: saidBy(alarm),
      watches:
        alarm.Metrics === undefined
          ? metricOf(alarm, textOf)
          : alarm.Metrics.map(
              ({ Id, Expression, MetricStat: of }: Resource['properties']) =>
                Expression ?? `${Id} ${metricOf({ ...of.Metric, ...of, Statistic: of.Stat }, textOf)}`,
            ).join(', '),
    },
    instead: [
      'AlarmDescription',
      'Metrics',
      'MetricName',
      'Namespace',
      'Dimensions',
      'Statistic',
      'ExtendedStatistic',
      'Period',
    ],
  }),
  'AWS::CloudWatch::CompositeAlarm': (alarm) => ({
    facts: { says: saidBy(alarm) },
    instead: ['AlarmDescription'],
  }),
  'AWS::ApiGatewayV2::Route': ({ Target }, stacks, textOf) => {
    const integration = stacks.stateless.find(({ id }) => id === stacks.target(Target['Fn::Join'][1][1]));
    const { IntegrationUri, PayloadFormatVersion } = integration?.properties ?? {};
    return { facts: { runs: `${textOf(IntegrationUri)} ${PayloadFormatVersion}` }, instead: ['Target', 'ApiId'] };
  },
};

const saidBy = ({ AlarmDescription }: { AlarmDescription: string }) => AlarmDescription.replace(/:.*README\.md/s, ' ');

function metricOf(
  { Namespace, MetricName, Dimensions = [], Statistic, ExtendedStatistic, Period }: Resource['properties'],
  textOf: TextOf,
) {
  const of = [Namespace, shortOf(MetricName), ...Dimensions.map(textOf)].join(' ');
  return `${Statistic ?? ExtendedStatistic} of ${of} in ${Period} s`;
}

/** Returns what a role may do to which resource, but for the right to write the function's own log. */
function rightsOf(role: unknown, stacks: Stacks, textOf: TextOf): Record<string, string> {
  const rights = stacks
    .all('AWS::IAM::Policy')
    .filter(({ properties }) => stacks.target(properties.Roles[0]) === stacks.target(role))
    .flatMap(({ properties }) => properties.PolicyDocument.Statement)
    .map(({ Effect, Action, Resource: on, Condition: when }) => {
      const actions = [...(Effect === 'Allow' ? [] : [Effect]), ...[Action].flat().toSorted()].join(' ');
      return `${actions} ${[on].flat().map(textOf).join(' ')}${when === undefined ? '' : ` if ${textOf(when)}`}`;
    })
    .toSorted();
  const [ofKeys, others] = [true, false].map((is) =>
    rights.filter((right) => right.startsWith('kms:') === is && !right.startsWith('logs:')).join(', '),
  );
  return { ...(others ? { may: others } : {}), ...(ofKeys ? { 'may use keys': ofKeys } : {}) };
}
