import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestModule } from 'vitest/node'

interface Fault {
  message?: string
  stacks?: { file: string; line: number }[]
}

/** The last lines of a run name what failed, at first or for good: often only the end of the output is kept. */
export default class Ending implements Reporter {
  private readonly lines: string[] = []

  constructor() {
    // After whatever the other reporters print.
    process.once('exit', () => process.stdout.write(this.lines.map((line) => `${line}\n`).join('')))
  }

  onTestRunEnd(files: readonly TestModule[], faults: readonly Fault[]): void {
    for (const file of files) this.tell(file)
    for (const fault of faults) this.add('outside any test', [fault])
  }

  private tell(file: TestModule): void {
    const name = relative(import.meta.dirname, file.moduleId)
    if (file.errors().length) this.add(name, file.errors())
    for (const suite of file.children.allSuites())
      if (suite.errors().length) this.add(`${name} > ${suite.fullName}`, suite.errors())
    for (const test of file.children.allTests('failed'))
      this.add(`${name} > ${test.fullName}`, test.result().errors ?? [])
    // It counts, and is a bug of today all the same.
    for (const test of file.children.allTests('passed'))
      if (test.diagnostic()?.flaky)
        this.add(`${name} > ${test.fullName}`, test.result().errors ?? [], 'SECOND TRY')
  }

  private add(where: string, [fault]: readonly Fault[], word = 'FAILED'): void {
    this.lines.push(`${word} ${where}: ${fault ? told(fault) : 'no reason given'}`)
  }
}

/** The first line of an error, what was waited for, and where. */
function told({ message = '', stacks = [] }: Fault): string {
  const [first = '', ...rest] = stripVTControlCharacters(message).split('\n')
  const awaited = rest.find((line) => line.trim().startsWith('- waiting for'))?.trim() ?? ''
  const at = stacks.map(({ file, line }) => `${relative(import.meta.dirname, file)}:${line}`)
  return [first, awaited, at.length ? `(${at.join(' < ')})` : ''].filter(Boolean).join(' ')
}
