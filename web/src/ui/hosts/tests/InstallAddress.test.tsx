// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { renderInConsole } from '../../../../tests/unit/render'
import { InstallAddress } from '../InstallAddress'

test('the start command is shown for an installation and for a checkout', () => {
  const options = '--host 0.0.0.0 --url http://192.0.2.7:8420'
  const reach = { root: 'http://127.0.0.1:8420/', choices: [], options: [options] }
  renderInConsole(<InstallAddress reach={reach} address={null} onChange={() => {}} />)
  const commands = [...document.querySelectorAll('code')].map((code) => code.textContent)
  expect(commands).toEqual([`belvedere up ${options}`, `make run ARGS="${options}"`])
})
