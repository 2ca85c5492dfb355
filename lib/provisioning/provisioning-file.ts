import * as v from 'valibot';
import { permissions } from '../access/caller.ts';
import { didPattern } from '../access/directory.ts';
import { isPasswordHash, passwordMaxLength } from '../access/sign-in/password.ts';
import { usernamePattern } from '../access/sign-in/sign-in.ts';
import { zoneNamed } from '../access/zone.ts';
import { faultOf } from '../http/parse.ts';
import type { Fault } from '../http/refusal.ts';
import { folded, longestText } from '../opt-outs/stop-words.ts';
import { relationFaults } from './provisioning-relations.ts';
import { unknownFields } from './unknown-fields.ts';

/**
 * Words that stand where a DID or a template id can stand in a path: the gateway would send such a request to another
 * route, so nothing may be called so (D36, R2).
 */
export const reservedPathWords: ReadonlySet<string> = new Set([
  'status',
  'sync-from-platform',
  'channel-campaigns',
  'channel-campaigns-grouped',
  'messages',
]);

const id = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const text = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(256));
const digits = v.pipe(v.string(), v.regex(/^\d{1,32}$/, 'must be 1 to 32 digits'));

const credentialName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, _ or -, a letter first'),
);

const did = v.pipe(
  v.string(),
  v.check((value) => !reservedPathWords.has(value), 'is a word of a route and cannot be a DID'),
  v.regex(didPattern, 'must be 5 to 20 digits'),
);

/** Messages of their own for everything secret: valibot's would quote the value. */
const secret = (name: string, maxLength: number) =>
  v.pipe(
    v.string(`${name} must be text`),
    v.minLength(8, `${name} must have at least 8 characters`),
    v.maxLength(maxLength, `${name} must have at most ${maxLength} characters`),
  );

/** A token of the platform, as a file or an operator gives it. */
export const accessTokenSchema = secret('the access token', 1_024);

/** More than any client spends in a month, and exact in units (pricing/money.ts). */
const mostDollars = 10_000_000;

/** Cents are the least, as on a bill: rates have up to eight decimals, budgets need none of them. */
const dollars = v.pipe(
  v.number(),
  v.minValue(0.01, 'must be at least 0.01 dollars'),
  v.maxValue(mostDollars),
  v.check((amount) => Number(amount.toFixed(2)) === amount, 'must be dollars with up to two decimals'),
);

const UserSchema = v.pipe(
  v.strictObject({
    username: v.pipe(v.string(), v.regex(usernamePattern, 'must be 1 to 128 letters, digits or . _ @ + -')),
    client_id: id,
    password: v.optional(secret('the password', passwordMaxLength)),
    password_hash: v.optional(
      v.pipe(
        v.string('the password hash must be text'),
        v.check(isPasswordHash, 'the password hash must be a PHC string, argon2id or scrypt, within 64 MiB'),
      ),
    ),
    permissions: v.array(v.picklist(permissions, `must be a permission that there is: ${permissions.join(', ')}`)),
    campaign_ids: v.array(id),
  }),
  // Judged whatever else is wrong with the user.
  v.partialCheck(
    [['password'], ['password_hash']],
    (user) => (user.password === undefined) !== (user.password_hash === undefined),
    'a user has either password or password_hash',
  ),
);

/** What people write or tap. The item that keeps three such lists has room for them, whatever letters they are of. */
const words = v.pipe(
  v.array(
    v.pipe(
      v.string(),
      v.maxLength(longestText, `a word must have at most ${longestText} characters`),
      v.check((word) => folded(word) !== '', 'a word must have a letter or a digit: nothing else of it counts'),
    ),
  ),
  v.maxLength(200, 'must be at most 200 words'),
);

/** Without one no person could stop by that way. */
const stoppingWords = v.pipe(words, v.minLength(1, 'must have a word: without any, people could not stop'));

/** A provisioning file by itself; what holds between its entries is in provisioning-relations.ts. */
export const ProvisioningFileSchema = v.strictObject({
  /** Tells an editor where the JSON Schema is. */
  $schema: v.optional(v.string()),
  clients: v.array(
    v.strictObject({
      client_id: id,
      name: text,
      /** Whether its UTILITY messages heed opt-outs as well (D55). */
      opt_outs_for_utility: v.optional(v.boolean(), false),
      /** By which `Send-Window` and `Send-Days` go where a recipient's own zone is not known (D56). */
      zone: v.optional(
        v.pipe(
          v.string(),
          v.check((text) => zoneNamed(text) !== undefined, 'must be an IANA time zone such as Europe/Madrid'),
        ),
      ),
      /** What it may spend in a month of UTC, in dollars at list prices; with `stop` sends above it are refused (D58). */
      monthly_budget: v.optional(v.strictObject({ amount: dollars, stop: v.optional(v.boolean(), false) })),
    }),
  ),
  wabas: v.array(
    v.strictObject({
      waba_id: digits,
      name: text,
      namespace: text,
      client_ids: v.pipe(v.array(id), v.minLength(1)),
      credential: credentialName,
      /** Which channels its clients may use: those of the whole WABA, or each only its own (D5). */
      dids: v.optional(v.picklist(['waba', 'own'], "must be 'waba' or 'own'"), 'waba'),
      /** For whom the platform's word counts that a person wants no marketing: the number that it names, or the WABA (D55). */
      platform_stops: v.optional(v.picklist(['number', 'waba'], "must be 'number' or 'waba'"), 'number'),
      business_id: text,
      business_name: text,
    }),
  ),
  channels: v.array(
    v.strictObject({
      channel_id: id,
      did,
      /** A channel need not have one: answers leave an empty one out. */
      name: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(256)), ''),
      client_id: id,
      waba_id: digits,
      phone_number_id: digits,
      throughput_per_second: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)),
      /** Which Messaging Account its sends are of, where the number has several (platform reference, 8). */
      messaging_account_id: v.optional(digits),
    }),
  ),
  campaigns: v.array(
    v.strictObject({
      campaign_id: id,
      client_id: id,
      name: v.pipe(text, v.notValue('Unassigned', "'Unassigned' is the name of the placeholder")),
    }),
  ),
  users: v.array(UserSchema),
  platform_credentials: v.optional(
    v.array(
      v.strictObject({
        name: credentialName,
        access_token: accessTokenSchema,
        app_id: digits,
      }),
    ),
    [],
  ),
  /** Who may tell what became of messages, templates and numbers, and of which WABAs (D38). */
  platform_apps: v.optional(
    v.array(
      v.strictObject({
        id: digits,
        app_secret: secret('the app secret', 256),
        /** Valid beside the other while the secret is being changed. */
        previous_app_secret: v.optional(secret('the previous app secret', 256)),
        verify_token: secret('the verify token', 256),
        wabas: v.array(digits),
      }),
    ),
    [],
  ),
  /** What people write or tap to end marketing and begin it again; each list replaces the shipped one (D55). */
  opt_out_words: v.optional(
    v.strictObject({
      stop: v.optional(stoppingWords),
      start: v.optional(words),
      stop_buttons: v.optional(stoppingWords),
    }),
  ),
});

/** A provisioning file: everything there is for the service to know, in one piece (D36). */
export type ProvisioningFile = v.InferOutput<typeof ProvisioningFileSchema>;

/** Thrown for a file that is not fit to be written, with every fault found. */
export class ProvisioningFaults extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(({ path, message }) => (message.includes(path) ? message : `${path}: ${message}`)).join('\n'));
    this.name = 'ProvisioningFaults';
    this.faults = faults;
  }
}

/**
 * Parses a provisioning file as a whole. Throws `ProvisioningFaults` with all faults and their paths, of whatever kind:
 * shapes, values, unknown fields, how entries relate to one another (references, doubles), and `textFaults`, which were
 * found in the text before it was read. `storedCredentials` are the names of platform credentials that need not be in the
 * file.
 */
export function provisioningFile(
  data: unknown,
  storedCredentials: Iterable<string>,
  textFaults: readonly Fault[] = [],
): ProvisioningFile {
  const parsed = v.safeParse(ProvisioningFileSchema, data);
  const faults = [
    ...textFaults,
    ...(parsed.issues ?? []).filter((issue) => !isUnknownField(issue)).map(faultOf),
    ...unknownFields(ProvisioningFileSchema, data),
    ...relationFaults(data, storedCredentials),
  ];
  if (!parsed.success || faults.length > 0) throw new ProvisioningFaults(faults);
  return parsed.output;
}

/** `unknownFields` names these and those that valibot leaves out. */
function isUnknownField(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}
