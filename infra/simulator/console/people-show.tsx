import { Choice } from './filters.tsx';

export function ShowChoice() {
  const options = [
    ['phones', 'On the phone'],
    ['told', 'Told to the client'],
  ] as const;
  return <Choice name="show" label="Show" all="Opt-outs" options={options} />;
}

export function isDoing(id: string): boolean {
  return /^d\d+$/.test(id);
}

export function isTold(id: string): boolean {
  return /^e\d+$/.test(id);
}
