import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import {
  type Command,
  CommandError,
  type CommandWords,
  callersPath,
  commandLine,
  helpOption,
  jsonOption,
  stageOption,
} from '../command.ts';
import { runningLocalStack } from '../local-stacks.ts';
import { clearProgress, progressOn } from '../progress.ts';
import { requireStage } from '../target.ts';
import { examine } from './doctor.ts';
import { closingCount, type Finding, findingLines } from './findings.ts';
import { replay } from './smoke.ts';
import { statusOf } from './stack-status.ts';

const options = {
  doctor: { type: 'boolean', default: false, about: 'what the stage lacks; the default when no other look is named' },
  quotas: {
    type: 'boolean',
    default: false,
    about: "the account's quotas alone, before the first deployment: give it the values (-c) that you will deploy with",
  },
  context: { type: 'string', short: 'c', value: 'NAME=VALUE', multiple: true, about: 'a value of the deployment' },
  platform: {
    type: 'boolean',
    default: false,
    about: 'a dozen reads of one WABA, compared with lib/platform/FACTS.md',
  },
  waba: { type: 'string', value: 'ID', about: 'with --platform: this WABA; else the first' },
  smoke: {
    type: 'boolean',
    default: false,
    about:
      'replays what no emulator can prove about the real gateway; with SMOKE_USERNAME and SMOKE_PASSWORD (a user with campaigns) also what needs a token',
  },
  acceptance: {
    type: 'boolean',
    default: false,
    about: 'runs the contract tests that need no simulator, as clients of their own, and removes these again',
  },
  clean: {
    type: 'boolean',
    default: false,
    about: 'with --acceptance: only removes what a run that was killed has left',
  },
  api: {
    type: 'string',
    value: 'URL',
    about: 'for --smoke and --acceptance: at this address; else at that of the stage',
  },
  stack: {
    type: 'string',
    value: 'FILE',
    about: 'the local stack that FILE describes, as npm start describes its own',
  },
  json: jsonOption,
  stage: stageOption,
  help: helpOption,
} as const;

const words: CommandWords = {
  lines: [
    'check [--stage NAME] [--smoke] [--acceptance]',
    'check --quotas --stage NAME [-c NAME=VALUE ...]',
    'check --platform [--waba ID] [--stage NAME]',
  ],
  about: `Looks whether a stage, or the local stack, has what it needs: credentials and region, stacks, the API, the clock,
an edge, keys, alarms and who hears them, what the platform says to each credential, webhook subscription and app. One
line each: ✓ is well, ✗ says what to do, – could not be seen from here. Exit status 1 when a line has ✗, or an answer or
a test is not as expected.

Doctor and smoke change nothing. Acceptance needs credentials that may write the stage's tables, as provisioning does; it
sends no message and asks the platform for nothing; nobody can provision meanwhile.`,
  options,
};

const root = resolve(import.meta.dirname, '../../..');

type Wanted = ReturnType<typeof wantedOf>;

function wantedOf(typed: readonly string[]) {
  const { values } = commandLine({ args: [...typed], options });
  const { stage, waba, platform, quotas, smoke, acceptance, clean, api, json } = values;
  if (stage !== undefined) requireStage(stage);
  if (waba !== undefined && !platform) throw new CommandError('--waba goes with --platform');
  if (quotas && stage === undefined) throw new CommandError('--quotas goes with --stage');
  if (clean && !acceptance) throw new CommandError('--clean goes with --acceptance');
  if (api !== undefined && !smoke && !acceptance) throw new CommandError('--api goes with --smoke or --acceptance');
  if (api !== undefined && !URL.canParse(api)) throw new CommandError(`--api is no URL: ${api}`);
  if (json && acceptance) throw new CommandError('--json goes without --acceptance');
  return { ...values, stack: values.stack === undefined ? undefined : callersPath(values.stack) };
}

async function check(typed: readonly string[]): Promise<void> {
  const wanted = wantedOf(typed);
  const { stage, stack, platform, quotas, smoke, acceptance, json } = wanted;
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]) => {
    findings.push(...found);
    clearProgress(process.stderr);
    if (!json) for (const finding of found) console.log(findingLines(finding));
  };
  const withProgress = (look: () => Promise<void>) =>
    progressOn(process.stderr)(() => `${findings.length} answers so far`, look);
  const isDoctorAsked = wanted.doctor || platform || quotas || !(smoke || acceptance);
  if (isDoctorAsked) {
    const asked = {
      ...{ stage, stackFile: stack, context: wanted.context ?? [], quotasAlone: quotas },
      facts: platform ? { wabaId: wanted.waba } : undefined,
    };
    await withProgress(() => examine(asked, tell));
  }
  const apiUrl = smoke || acceptance ? await apiUrlOf(wanted) : undefined;
  if (smoke && apiUrl !== undefined) {
    console.error(`the API at ${apiUrl}`);
    await withProgress(() => replay(new URL(apiUrl), tell));
  }
  if (json) console.log(JSON.stringify({ findings, well: isWell(findings) }, null, 2));
  else if (findings.length > 0) console.log(closingCount(findings));
  const passed = acceptance && apiUrl !== undefined ? await accepted(apiUrl, wanted) : 0;
  if (!isWell(findings)) throw new CommandError('Not all is well.', 1);
  process.exitCode = passed;
}

const isWell = (findings: readonly Finding[]) => findings.every(({ state }) => state !== 'bad');

/** Returns the address that is named, or that of the stage. Throws `CommandError` when the stage tells none. */
async function apiUrlOf({ api, stage, stack }: Wanted): Promise<string> {
  if (api !== undefined) return api.replace(/\/+$/, '');
  if (stage === undefined) return runningLocalStack(stack).apiUrl;
  const { apiUrl } = (await statusOf(stage, 'stateless')) ?? {};
  if (apiUrl === undefined) throw new CommandError('No stack tells its address (ApiUrl): name it with --api URL.', 1);
  return apiUrl.replace(/\/+$/, '');
}

/** Runs the tests, which nothing of infra imports, as a program; returns its exit status. */
function accepted(apiUrl: string, { stage, stack, clean }: Wanted): Promise<number> {
  const more = [
    ...(stage === undefined ? [] : ['--stage', stage]),
    ...(stack === undefined ? [] : ['--stack', stack]),
    ...(clean ? ['--clean'] : []),
  ];
  const script = join(root, 'test', 'acceptance', 'run.ts');
  const child = spawn(process.execPath, [script, apiUrl, ...more], { cwd: root, stdio: 'inherit' });
  return new Promise((resolveCode, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolveCode(code ?? 1));
  });
}

export const command: Command = { words, run: check };
