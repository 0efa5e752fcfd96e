import { Anchor, Group, Stack, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ROOT } from '../../api/client'
import { aboutQuery } from '../../api/queries/about'
import { hasLevel } from '../../app/permissions'
import { useProfile } from '../../app/session'
import { dateTime, duration } from '../../lib/format'
import { QueryResult } from '../../ui/layout/QueryResult'
import { ScriptUserWarning } from '../../ui/layout/ScriptUserWarning'
import { Section } from '../../ui/layout/Section'
import { Warning } from '../../ui/layout/Warning'
import { InstallationChecks } from './InstallationChecks'
import { useText } from './text'
import './settings.css'

const ENGINES: Record<string, string> = { sqlite: 'SQLite', postgresql: 'PostgreSQL' }

export function AboutTab() {
  const t = useText()
  const about = useQuery(aboutQuery)
  const { credential } = useProfile()
  return (
    <QueryResult query={about}>
      {(about) => (
        <Stack gap="md">
          {about.undeclared_proxies.length > 0 ? (
            <Warning title={t.proxies}>
              {t.proxiesBody} {about.undeclared_proxies.join(', ')}
            </Warning>
          ) : null}
          <ScriptUserWarning />
          <Section title="Belvedere" padded>
            <Table withRowBorders={false} variant="vertical" layout="fixed">
              <Table.Tbody>
                <Row name={t.version} value={about.version} />
                <Row name={t.engine} value={ENGINES[about.engine] ?? about.engine} />
                <Row name={t.schema} value={String(about.schema)} />
                <Row name={t.uptime} value={duration(about.uptime_s * 1000)} />
                <Row name={t.serverTime} value={dateTime(about.time)} />
                <Row name={t.agents} value={String(about.agents)} />
                <Row name="Python" value={about.python} />
              </Table.Tbody>
            </Table>
            <Group mt="sm">
              <Anchor size="sm" href={`${ROOT}-/docs/reference/routes.html`}>
                {t.docs}
              </Anchor>
              <Anchor size="sm" href={`${ROOT}-/openapi.json`}>
                {t.openapi}
              </Anchor>
            </Group>
          </Section>
          {hasLevel(credential, 'owner') ? <InstallationChecks /> : null}
          <Section title={t.licences} padded>
            <Table>
              <Table.Tbody>
                {about.licences.map((licence) => (
                  <Table.Tr key={licence.name}>
                    <Table.Td>{licence.name}</Table.Td>
                    <Table.Td>{licence.version}</Table.Td>
                    <Table.Td>{licence.licence}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Section>
        </Stack>
      )}
    </QueryResult>
  )
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <Table.Tr>
      <Table.Th w={160}>{name}</Table.Th>
      <Table.Td className="settings-wrap">{value}</Table.Td>
    </Table.Tr>
  )
}
