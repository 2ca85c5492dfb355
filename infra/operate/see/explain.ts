import { closestNames } from '../../../lib/http/closest-name.ts';
import { type Command, CommandError, type CommandWords, commandLine, helpOption, jsonOption } from '../command.ts';
import { helpOf } from '../help.ts';
import { codesOfStatus, type Explanation, explained, explanations } from './explanations.ts';

const options = { json: jsonOption, help: helpOption } as const;

const words: CommandWords = {
  lines: ['explain CODE'],
  about: `Says what a code means, whose fault it is, whom it concerns, what lifts it, whether a retry of the dispatch sends
once more, and what to do: of an answer of the service (template_not_found), of what became of a message (worker_lost),
of an item of a bulk status (channel_unassigned), or of the platform (131026, 100/2388023).

Also what a state of a message (unknown) and a kind of event (message.unknown) mean, which codes are answered with a
status (409), and why a listing is empty (unassigned).`,
  options,
};

const waiting = ': they wait, a day at most, and go on by themselves (D46)';

function printed(explanation: Explanation): string {
  const { code, where, title, fault, concerns, waits, cause, lifted, retry, remedy, page } = explanation;
  return [
    `${code}: ${title} (${where})`,
    ...(cause === undefined ? [] : [`  cause    ${cause}`]),
    ...(fault === undefined ? [] : [`  fault    ${fault}`]),
    ...(concerns === undefined ? [] : [`  concerns ${concerns}${waits ? waiting : ''}`]),
    ...(lifted === undefined ? [] : [`  lifted   ${lifted}`]),
    ...(retry === undefined ? [] : [`  retry    ${retry} (D57)`]),
    `  to do    ${remedy}`,
    ...(page === undefined ? [] : [`  more     ${page}`]),
  ].join('\n');
}

function unknown(code: string): CommandError {
  const answered = codesOfStatus(code);
  if (answered.length > 0) {
    return new CommandError(`${code} is a status; the service answers it with a code: ${answered.join(', ')}`, 1);
  }
  const near = closestNames(code, [...new Set(explanations.map((each) => each.code))], 5);
  // The platform has more codes than it documents.
  const isForeign = near.length === 0 && /^\d+$/.test(code);
  const hint = isForeign
    ? '; go by the text that the platform gave with it (message, reason)'
    : near.length === 0
      ? ''
      : `; did you mean ${near.join(', ')}?`;
  return new CommandError(`${code} is not a code, a state or a kind of event of this service${hint}`, 1);
}

export const command: Command = {
  words,
  run: async (typed) => {
    const { values, positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
    const [code, ...surplus] = positionals;
    if (code === undefined || code.trim() === '' || surplus.length > 0) throw new CommandError(helpOf(words));
    const found = explained(code);
    if (found.length === 0) throw unknown(code);
    console.log(values.json ? JSON.stringify(found, undefined, 2) : found.map(printed).join('\n\n'));
  },
};
