import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestModule } from 'vitest/node'

interface Fault {
  message?: string
  stacks?: { file: string; line: number }[]
}

/** Names failed and retried tests in the last lines of a run: often only the end is stored. */
export default class Ending implements Reporter {
  private readonly lines: string[] = []

  constructor() {
    // After the output of the other reporters.
    process.once('exit', () => process.stdout.write(this.lines.map((line) => `${line}\n`).join('')))
  }

  onTestRunEnd(files: readonly TestModule[], faults: readonly Fault[]): void {
    for (const file of files) this.reportFile(file)
    for (const fault of faults) this.add('outside any test', [fault])
  }

  private reportFile(file: TestModule): void {
    const name = relative(import.meta.dirname, file.moduleId)
    if (file.errors().length) this.add(name, file.errors())
    for (const suite of file.children.allSuites())
      if (suite.errors().length) this.add(`${name} > ${suite.fullName}`, suite.errors())
    for (const test of file.children.allTests('failed'))
      this.add(`${name} > ${test.fullName}`, test.result().errors ?? [])
    // A test that passed on the second try counts as passed, but it is a bug.
    for (const test of file.children.allTests('passed'))
      if (test.diagnostic()?.flaky)
        this.add(`${name} > ${test.fullName}`, test.result().errors ?? [], 'SECOND TRY')
  }

  private add(where: string, [fault]: readonly Fault[], word = 'FAILED'): void {
    this.lines.push(`${word} ${where}: ${fault ? faultText(fault) : 'no reason given'}`)
  }
}

/** The first line of an error, what was waited for, and where. */
function faultText({ message = '', stacks = [] }: Fault): string {
  const [first = '', ...rest] = stripVTControlCharacters(message).split('\n')
  const awaited = rest.find((line) => line.trim().startsWith('- waiting for'))?.trim() ?? ''
  const at = stacks.map(({ file, line }) => `${relative(import.meta.dirname, file)}:${line}`)
  return [first, awaited, at.length ? `(${at.join(' < ')})` : ''].filter(Boolean).join(' ')
}
