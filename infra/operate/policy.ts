import { omitUndefined } from '../../lib/keys/omit-undefined.ts';
import { type Account, callersAccount } from './account.ts';
import { CommandError, commandLine, runCommand } from './command.ts';
import { commandRights, mostPolicyCharacters, policyDocument } from './policy-document.ts';
import { nameTarget, requireStage } from './target.ts';

const usage = `npm run policy -- COMMAND... --stage NAME [--account ID --region NAME] [--key ARN]

Prints a policy of IAM with what these operator commands need of a stage, and no more: for a role or a user who runs them.

  COMMAND        ${Object.keys(commandRights).join(', ')};
                 or all. Others need no rights of AWS, or are said in infra/operate/README.md
  --stage NAME   the deployment
  --account ID, --region NAME
                 where it is; without them, where the AWS credentials of this shell lead
  --key ARN      of the customer managed key that the stage is deployed with (encryptionKeyArn)`;

const regionPattern = /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/;
/** The ARN is of one key, because an asterisk in it would reach others. */
const keyPattern = /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/;

const options = {
  stage: { type: 'string' },
  account: { type: 'string' },
  region: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface Surroundings {
  readonly print: (text: string) => void;
  /** Returns the account of this process's credentials. */
  readonly here: (given: { readonly region?: string }) => Promise<Account>;
}

/**
 * Runs one command line. Throws `CommandError`: status 2 for wrong usage, 1 when AWS takes no policy of that length.
 */
export async function policyCommand(typed: readonly string[], { print, here }: Surroundings): Promise<void> {
  const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
  if (values.help) return print(usage);
  const { stage, region, account, key } = values;
  if (positionals.length === 0) throw new CommandError(usage);
  const commands = commandsOf(positionals);
  if (stage === undefined) throw new CommandError('--stage is missing: a local stack asks for no rights');
  requireStage(stage);
  const where =
    account === undefined || region === undefined ? await here(omitUndefined({ region })) : { account, region };
  if (!/^\d{12}$/.test(account ?? where.account)) throw new CommandError(`--account takes 12 digits, not ${account}`);
  if (!regionPattern.test(where.region))
    throw new CommandError(`--region takes a name such as eu-west-1, not ${where.region}`);
  if (key !== undefined && !keyPattern.test(key)) throw new CommandError(`--key takes the ARN of a key, not ${key}`);
  const scope = { stage, ...where, ...omitUndefined({ account }), encryptionKeyArn: key };
  nameTarget(scope);
  const document = policyDocument(commands, scope);
  const { length } = JSON.stringify(document).replaceAll(/\s/g, '');
  if (length > mostPolicyCharacters) {
    throw new CommandError(
      `AWS takes ${mostPolicyCharacters} characters of a managed policy, and this has ${length}: ask for fewer commands.`,
      1,
    );
  }
  print(JSON.stringify(document, undefined, 2));
}

function commandsOf(named: readonly string[]): readonly string[] {
  const all = Object.keys(commandRights);
  if (named.includes('all')) return all;
  const unknown = named.filter((name) => !all.includes(name));
  if (unknown.length === 0) return named;
  throw new CommandError(`COMMAND is one of ${all.join(', ')}, or all; not ${unknown.join(', ')}`);
}

if (import.meta.main) {
  await runCommand(() => policyCommand(process.argv.slice(2), { print: console.log, here: callersAccount }));
}
