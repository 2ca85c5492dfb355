import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { RootConstruct } from 'constructs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { controlRoutes, magicRecipients, magicWords } from '#simulator/contract';
import { functions } from '../../infra/functions.ts';
import { commands as operatorCommands } from '../../infra/operate/ops.ts';
import { routes } from '../../infra/routes.ts';
import { type Settings, settingsFrom } from '../../infra/settings.ts';
import { tables } from '../../infra/tables.ts';
import { metricNames } from '../../lib/observe/metrics.ts';
import errorCodes from '../../lib/platform/error-codes.json' with { type: 'json' };
import { webhookFields } from '../../lib/platform/webhook/fields.ts';
import { retryJitter, retryWaitsSeconds } from '../../lib/webhooks/delivery/retry.ts';
import { eventTypes, ServiceEventSchema } from '../../lib/webhooks/event.ts';
import packageJson from '../../package.json' with { type: 'json' };
import mutationProofs from '../mutation/proofs.json' with { type: 'json' };
import mutationResults from '../mutation/results.json' with { type: 'json' };
import { documentOf, namesIn, sectionsOf, tableRows } from '../support/documents.ts';
import { promises } from '../support/promises.ts';

/*
 * Documents and code agree: citations lead somewhere, names in documents exist, and tables that repeat code are
 * complete. log.test.ts checks log events, alarms.test.ts checks alarms.
 */

const root = join(import.meta.dirname, '..', '..');
const ours = { cwd: root, exclude: ['**/node_modules', '**/dist'] };
const documents = ['README.md', ...globSync('{functions,lib,infra,test}/**/*.md', ours)].sort();
const code = globSync('{functions,lib,infra,test}/**/*.{ts,mjs,json,grit}', ours).sort();
const everything = [...documents, ...code].map((path) => ({ path, text: textOf(path) }));

const decisions = sectionsOf(documentOf('functions/DECISIONS.md'));
const facts = sectionsOf(documentOf('lib/platform/FACTS.md'));
const contract = [...sectionsOf(documentOf('functions/README.md')).keys()];

/** Joins the lines of each comment, so that a citation is found across line breaks. */
function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8').replace(/\n[ \t]*(?:\*|\/\/)?[ \t]*(?=\S)/g, '\n');
}

/** Returns the text of the section with this number; undefined when there is none. */
function underNumber(sections: ReadonlyMap<string, string>, number: string): string | undefined {
  const headings = [...sections.keys()].filter((heading) => heading.startsWith(`${number} `));
  expect(headings.length, `${number} is the number of ${headings.length} headings`).toBeLessThanOrEqual(1);
  return headings[0] === undefined ? undefined : sections.get(headings[0])?.trim();
}

/** Returns each citation once, with one place where it stands. */
function citations(found: (text: string, path: string) => readonly string[]): [string, string][] {
  const places = new Map<string, string>();
  for (const { path, text } of everything) for (const cited of found(text, path)) places.set(cited, path);
  return [...places].sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }));
}

const numbersIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([whole]) => whole);

describe('what is cited can be opened', () => {
  const decided = citations((text) => numbersIn(text, /\bD\d{1,2}\b/g));
  it.each(decided)('decision %s (%s)', (number) => {
    expect(underNumber(decisions, number)?.length).toBeGreaterThan(30);
  });

  const promised = citations((text) => numbersIn(text, /\bR\d{1,2}\b/g));
  it.each(promised)('promise %s (%s)', (number) => {
    expect(promises.find((promise) => promise.number === number)?.text.length).toBeGreaterThan(30);
  });

  const sections = citations((text, path) => {
    const named = [
      ...text.matchAll(/platform\s+reference,\s+(?:section\s+)?((?:\d+(?:\.\d+)?(?:,\s|\s+and\s+|\s+to\s+)?)+)/g),
    ];
    const bare = /^infra\/simulator\/(?!test\/)/.test(path) ? [...text.matchAll(/\((\d+\.\d+)\)/g)] : [];
    return [...named, ...bare].flatMap(([, numbers = '']) => numbersIn(numbers, /\d+(?:\.\d+)?/g));
  });
  it.each(sections)('section %s of the platform reference (%s)', (number) => {
    const below = [...facts.keys()].some((heading) => heading.startsWith(`${number}.`));
    expect(underNumber(facts, number)?.length).toBeGreaterThan(below ? -1 : 60);
  });

  const ofContract = citations((text) =>
    [...text.matchAll(/(?<!\w)\(contract,\s+([^;()]+)/g)].map(([, cited = '']) => cited),
  );
  it.each(ofContract.filter(([, path]) => /\.ts$/.test(path) && !path.endsWith('documents.test.ts')))(
    'the contract, %s (%s)',
    (cited) => {
      expect(contract.some((heading) => cited.startsWith(heading))).toBe(true);
    },
  );

  it('and nothing else is cited: no section of a document that is not here', () => {
    const others = everything.filter(({ path, text }) =>
      path.endsWith('documents.test.ts')
        ? false
        : /reliability(?: reference|\.md|, section)|\.\.\/shared|contract\.md|decisions\.md/.test(text),
    );
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('there are many', () => {
    expect([decided.length, promised.length, sections.length, ofContract.length].every((count) => count > 10)).toBe(
      true,
    );
  });
});

describe('every decision and promise has its number', () => {
  it('D1 to D60, R1 to R59', () => {
    const counted = (letter: string, last: number) => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`);
    expect([...decisions.keys()].slice(1).map((heading) => heading.split(' ')[0])).toEqual(counted('D', 60));
    expect(promises.map(({ number }) => number)).toEqual(counted('R', 59));
  });

  it('no decision has more than 120 words', () => {
    const words = (text: string) => text.match(/\S+/g)?.length ?? 0;
    const long = [...decisions].slice(1).filter(([, text]) => words(text) > 120);
    expect(long.map(([heading, text]) => `${heading}: ${words(text)}`)).toEqual([]);
  });

  const tests = code.filter((path) => path.endsWith('.test.ts') && !path.endsWith('documents.test.ts'));
  it.each(promises)(
    'the proofs of $number: each name is one file, and every test that cites it is named',
    (promise) => {
      const { number, proofs } = promise;
      expect(proofs.filter(({ files }) => files.length !== 1)).toEqual([]);
      const named = new Set(proofs.flatMap(({ files }) => files));
      const cites = tests.filter((path) => new Set(numbersIn(textOf(path), /\bR\d{1,2}\b/g)).has(number));
      expect(cites.filter((path) => !named.has(path))).toEqual([]);
    },
  );
});

describe.each(documents)('%s', (path) => {
  const text = documentOf(path);
  const folder = dirname(path);
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  // Proofs are ends of paths, which are looked for above.
  const withoutProofs = path === 'test/PROMISES.md' ? prose.replaceAll(/\| [^|]* \|$/gm, '') : prose;

  it('links to what is there, anchors too', () => {
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const missing = targets.filter((target) => !/^https:/.test(target) && !linkLeads(folder, path, target));
    expect(missing).toEqual([]);
  });

  it('names files and folders that are there', () => {
    const named = namesIn(withoutProofs).filter(
      (name) => /^[\w.-]+(?:\/[\w.-]+)*\/?$/.test(name) && looksLikePath(name),
    );
    expect(named.filter((name) => ![name, join(folder, name)].some((each) => isThere(each)))).toEqual([]);
  });

  it('names commands that are there', () => {
    const named = [...text.matchAll(/npm (?:run )?(?:--silent )?(?:run )?([a-z][\w:-]*)/g)].map(
      ([, name = '']) => name,
    );
    const ofNpm = [
      'ci',
      'install',
      'exec',
      'pack',
      'sbom',
      'alone',
      'with',
      'was',
      'keeps',
      'started',
      'must',
      'and',
      'starts',
    ];
    expect(named.filter((name) => !(name in packageJson.scripts) && !ofNpm.includes(name))).toEqual([]);
  });
});

it('texts and code name commands of operators that are there', () => {
  const first = new Set(operatorCommands.flatMap(({ name }) => [name, name.split(' ')[0] ?? '']));
  const named = everything.flatMap(({ path, text }) =>
    path.startsWith('test/')
      ? []
      : [...text.matchAll(/infra\/ops ([a-z][\w-]*)(?: (list|replay|listen|trigger|import)\b)?/g)].map(
          ([, word = '', second]) => (second === undefined ? word : `${word} ${second}`),
        ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect([...new Set(named)].filter((name) => !first.has(name))).toEqual([]);
});

it('fifteen scripts', () => {
  expect(Object.keys(packageJson.scripts)).toHaveLength(15);
});

function looksLikePath(name: string): boolean {
  return (
    /^(?:functions|lib|infra|test|\.ci|\.github)\//.test(name) ||
    name.endsWith('/') ||
    /\.(?:ts|mjs|json|md|grit|yml)$/.test(name)
  );
}

function isThere(path: string): boolean {
  return existsSync(join(root, path)) && (!path.endsWith('/') || statSync(join(root, path)).isDirectory());
}

function linkLeads(folder: string, from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : posix.join(folder, file);
  if (!isThere(path)) return false;
  return anchor === undefined || [...sectionsOf(documentOf(path)).keys()].map(anchorOf).includes(anchor);
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}

const prose = (document: string) =>
  document
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .split('\n')
    .filter((line) => !line.startsWith('|'));

describe('the documents for those who deploy and those who call', () => {
  const runBook = ['infra/operate/README.md', 'infra/operate/LOGS.md', 'infra/operate/COST.md'];
  const infra = ['infra/README.md', 'infra/RECOVERY.md', ...runBook, 'infra/CHANGELOG.md'];
  const ofInterface = ['functions/README.md', 'functions/DECISIONS.md'];
  it.each([...infra, ...ofInterface])('%s has no line over 120', (path) => {
    expect(prose(documentOf(path)).filter((line) => line.length > 120)).toEqual([]);
  });
});

describe('tables that repeat code', () => {
  const interfaceBook = documentOf('functions/README.md');
  const simulatorBook = documentOf('infra/simulator/README.md');
  const webhookBook = documentOf('lib/webhooks/README.md');
  const firstNames = (rows: readonly string[][]) => rows.flatMap(([cell = '']) => namesIn(cell));

  it('routes: each has a heading, which may name two methods', () => {
    const told = contract.flatMap((heading) => {
      const [, methods = '', path] = /^((?:[A-Z]+ and )?[A-Z]+) (\/\S+)$/.exec(heading) ?? [];
      return path === undefined ? [] : methods.split(' and ').map((method) => `${method} ${path}`);
    });
    expect(told.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('functions: every route has one', () => {
    expect(routes.map(({ operation }) => operation).filter((name) => !(name in functions))).toEqual([]);
  });

  it('settings and their defaults', () => {
    const settings: Settings = settingsFrom(new RootConstruct().node);
    const rows = tableRows(documentOf('infra/README.md'), '| Name | Default |');
    // A row may name several settings; their defaults stand in the same order, or one is that of all.
    const told = rows.flatMap(([cell = '', value = '']) => {
      const names = namesIn(cell);
      const shown = value.replaceAll('`', '').replaceAll('<stage>', 'dev');
      const values = names.length === 1 ? [shown] : shown.split(', ');
      return names.map((name, at) => [name, values[values.length === 1 ? 0 : at] ?? '']);
    });
    const defaults = told.map(([name, value = '']) => [name, value.startsWith('none') ? 'undefined' : value]);
    expect(defaults.sort()).toEqual(
      Object.entries(settings)
        .map(([name, value]) => [name, String(value)])
        .sort(),
    );
  });

  it('fields that the platform is to tell', () => {
    const section = sectionsOf(documentOf('infra/README.md')).get("The platform's webhook") ?? '';
    const listed = section.split('\n\n').find((part) => part.startsWith('- ')) ?? '';
    expect(namesIn(listed).sort()).toEqual([...webhookFields].sort());
  });

  it('tables, where one is damaged: the way back, what is lost, how long it takes', () => {
    const rows = tableRows(documentOf('infra/RECOVERY.md'), '| Table | Way back');
    expect(rows.filter((cells) => cells.slice(0, 4).includes(''))).toEqual([]);
    expect(rows.flatMap(([cell = '']) => namesIn(cell)).sort()).toEqual(Object.keys(tables).sort());
  });

  it('metrics', () => {
    const told = firstNames(tableRows(documentOf('infra/operate/LOGS.md'), '| Metric | Counts |'));
    expect(told.sort()).toEqual([...metricNames].sort());
  });

  it('codes of holds, and what each holds (D46)', () => {
    const told = tableRows(documentOf('infra/operate/README.md'), '| Held | Codes |').flatMap(
      ([held = '', codes = '']) => namesIn(codes).map((code) => [code, ...namesIn(held)]),
    );
    const known = errorCodes.flatMap(({ code, holds, holdsWhenDropped: kind = holds }) =>
      kind === undefined ? [] : [[String(code), kind]],
    );
    expect(told.sort()).toEqual([...known, ['no_answer']].sort());
    // The books for callers and receivers name each code in a sentence, but 132015 as a word only.
    for (const book of [interfaceBook, webhookBook]) {
      expect(known.filter(([code]) => !book.includes(`\`${code}\``)).map(([code]) => code)).toEqual(['132015']);
    }
  });

  it('results of mutations (R47)', () => {
    expect(Object.keys(mutationResults).filter((file) => !(file in mutationProofs))).toEqual([]);
    const sum = (part: 'mutants' | 'survivors') =>
      Object.values(mutationResults).reduce((total, result) => total + result[part], 0);
    const [tried, noticed] = [sum('mutants'), sum('mutants') - sum('survivors')].map((count) =>
      count.toLocaleString('en'),
    );
    const share = ((100 * (sum('mutants') - sum('survivors'))) / sum('mutants')).toFixed(1);
    expect(documentOf('test/PROMISES.md')).toContain(`${noticed} of ${tried} (${share} %)`);
  });

  it('the waits between the attempts of a delivery', () => {
    const told = (seconds: number) => {
      const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
      const parts = [hours && `${hours} h`, minutes && `${minutes} min`, seconds < 60 && `${seconds} s`];
      return parts.filter(Boolean).join(' ');
    };
    const least = retryWaitsSeconds.reduce((sum, seconds) => sum + seconds * (1 - retryJitter), 0);
    const waits = retryWaitsSeconds.map(told);
    const sentence = `${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} apart`;
    expect(webhookBook.replaceAll(/\s+/g, ' ')).toContain(
      `${sentence}, each a fifth more or less by chance: ${told(least)} at least`,
    );
  });

  it('kinds of event', () => {
    expect(firstNames(tableRows(webhookBook, '| Type | Goes to |'))).toEqual([...eventTypes]);
  });

  it('the event that is shown, whole', () => {
    const [, shown = ''] = /^```json\n([\s\S]*?)^```/m.exec(webhookBook) ?? [];
    const { type, timestamp, data } = JSON.parse(shown);
    const kind = ServiceEventSchema.options.find(({ entries }) => entries.type.literal === type);
    expect(v.safeParse(v.strictObject(kind?.entries.data.entries ?? {}), data)).toMatchObject({ success: true });
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
  });

  it("the simulator's book names only recipients, words and control calls that there are", () => {
    const known = {
      recipients: magicRecipients.map(({ to }) => to),
      words: magicWords.map(({ word }) => word),
      calls: controlRoutes.map(({ method, path }) => `${method} ${path}`),
    };
    const named = namesIn(simulatorBook.replaceAll(/^```.*?^```$/gms, ''));
    const told = {
      recipients: named.filter((name) => /^1555\d{7}$/.test(name)),
      words: named.filter((name) => /^(?:REVIEW|AS|REJECT)_[A-Z]/.test(name)),
      calls: named.filter((name) => /^[A-Z]+ \/_control\//.test(name)),
    };
    for (const kind of ['recipients', 'words', 'calls'] as const) {
      expect(told[kind].length).toBeGreaterThan(2);
      expect(told[kind].filter((name) => !known[kind].includes(name))).toEqual([]);
    }
  });
});

describe('the root README', () => {
  it('is for the first hour: 14 KB at most', () => {
    expect(Buffer.byteLength(documentOf('README.md'))).toBeLessThanOrEqual(14_000);
  });

  it('tells the licence that the package has', () => {
    expect(sectionsOf(documentOf('README.md')).get('Licence')).toContain(`\`${packageJson.license}\``);
  });
});
