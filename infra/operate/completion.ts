import { type Command, CommandError, type CommandWords, commandLine, helpOption, type Listed } from './command.ts';
import { helpOf } from './help.ts';

const options = { help: helpOption } as const;

const words: CommandWords = {
  lines: ['completion bash|zsh'],
  about: `Prints a script that completes the commands and their options in your shell. In ~/.bashrc or ~/.zshrc, with the
folder of the repository:

  source <(FOLDER/infra/ops completion bash)
  source <(FOLDER/infra/ops completion zsh)`,
  options,
};

export function completionOf(listed: readonly Listed[]): Command {
  return {
    words,
    run: async (typed) => {
      const { positionals } = commandLine({ args: [...typed], options, allowPositionals: true });
      const [shell, ...surplus] = positionals;
      if (surplus.length > 0 || (shell !== 'bash' && shell !== 'zsh')) throw new CommandError(helpOf(words));
      console.log(await completionScript(shell, listed));
    },
  };
}

/** Returns the script; it knows all words, so that a completion starts no process. */
export async function completionScript(shell: 'bash' | 'zsh', listed: readonly Listed[]): Promise<string> {
  const commands = await Promise.all(
    listed.map(async ({ name, load }) => ({ name, words: (await load()).command.words })),
  );
  const first = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
  const families = first.filter((word) => commands.some(({ name }) => name.startsWith(`${word} `)));
  const cases = [
    ...commands.map(({ name, words: { options: all } }) => {
      const flags = Object.keys(all).map((option) => `--${option}`);
      const pattern = name.includes(' ') ? `'${name}'` : `'${name} '*`;
      return `    ${pattern}) words='${flags.join(' ')}' ;;`;
    }),
    ...families.map((family) => {
      const seconds = commands.flatMap(({ name }) => (name.startsWith(`${family} `) ? [name.split(' ')[1]] : []));
      return `    '${family} '*) words='${seconds.join(' ')}' ;;`;
    }),
    `    *) words='${first.join(' ')}' ;;`,
  ];
  return (shell === 'bash' ? bash : zsh)(cases.join('\n'));
}

const bash = (cases: string) => `_infra_ops() {
  local cur=\${COMP_WORDS[COMP_CWORD]} first= second= words=
  [ "$COMP_CWORD" -gt 1 ] && first=\${COMP_WORDS[1]}
  [ "$COMP_CWORD" -gt 2 ] && second=\${COMP_WORDS[2]}
  case "$first $second" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _infra_ops ops infra/ops ./infra/ops`;

const zsh = (cases: string) => `_infra_ops() {
  local given= second=
  (( CURRENT > 2 )) && given=$words[2]
  (( CURRENT > 3 )) && second=$words[3]
  local -a list
  () {
    local words=
    case "$given $second" in
${cases}
    esac
    list=(\${=words})
  }
  compadd -- $list || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _infra_ops ops infra/ops ./infra/ops`;
