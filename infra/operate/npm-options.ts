import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TypedOption {
  readonly name: string;
  readonly short?: string;
  readonly takesValue: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** npm itself has these short options. */
const npmLongNames: Readonly<Record<string, string>> = { c: 'call' };

/**
 * Returns the line that was probably meant, when npm kept options: without `--` they only become `npm_config_<name>`
 * variables (npm 10 and 11). It is undefined when there are none. Settings of an .npmrc do not count.
 */
export function lineWithSwallowedOptions(
  options: readonly TypedOption[],
  given: readonly string[],
  environment: Environment = process.env,
): string | undefined {
  const script = environment['npm_lifecycle_event'];
  if (script === undefined) return undefined;
  const configured = configuredIn(environment);
  const words = [...given];
  const taken = options.flatMap((option) =>
    spellings(option).flatMap(({ typed, key }) => {
      const value = environment[`npm_config_${key.replaceAll('-', '_')}`];
      if (value === undefined || value === '' || configured.get(key) === value) return [];
      return [{ typed, value: option.takesValue ? value : undefined }];
    }),
  );
  if (taken.length === 0) return undefined;
  // `--stage prod` leaves `true` behind, and its value among the arguments; several values stand there as they were typed.
  const left = taken.filter(({ value }) => value === 'true').length;
  const values = left === 0 ? [] : words.splice(-left);
  const swallowed = taken.flatMap(({ typed, value }) =>
    value === undefined ? [typed] : [typed, value === 'true' ? (values.shift() ?? 'VALUE') : value],
  );
  return `npm run ${script} -- ${[...words, ...swallowed].map(quoted).join(' ')}`;
}

function spellings({ name, short }: TypedOption): { readonly typed: string; readonly key: string }[] {
  const long = { typed: `--${name}`, key: name };
  const ofNpm = short === undefined ? undefined : npmLongNames[short];
  return ofNpm === undefined ? [long] : [long, { typed: `-${short}`, key: ofNpm }];
}

/** Reads keys and values of the .npmrc files. */
function configuredIn(environment: Environment): ReadonlyMap<string, string> {
  const {
    npm_config_userconfig: user,
    npm_config_globalconfig: everyone,
    npm_config_local_prefix: project,
  } = environment;
  const files = [everyone, user, project === undefined ? undefined : join(project, '.npmrc')];
  const lines = files.flatMap((file) =>
    file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [],
  );
  return new Map(
    lines.flatMap((line) => {
      const [, key, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value] as const];
    }),
  );
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
