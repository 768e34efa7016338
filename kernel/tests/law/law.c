/* law.h as a process: one event per line on standard input, the state after it on standard output. */
#include <stdio.h>
#include <string.h>

#include "../../bpf/law.h"

/* start RATE MSS THRESHOLDS PER_ACK IW SSTHRESH | sample RTT | ack NEWLY ROUND_END MAY_GROW | lose | expire AGAIN | undo
 * | follow SWND SSTHRESH | dwnd SEGMENTS | agree LWND DWND DELAY_ON */
static int take(struct law *law, const char *line)
{
	unsigned long long a[6] = { 0 };
	char verb[16] = "";

	sscanf(line, "%15s %llu %llu %llu %llu %llu %llu", verb, a, a + 1, a + 2, a + 3, a + 4, a + 5);
	if (!strcmp(verb, "start")) {
		law->rate = a[0];
		law->mss = a[1];
		law->thresholds = a[2];
		law->per_ack = a[3];
		law_start(law, a[4], a[5]);
	} else if (!strcmp(verb, "sample")) {
		law_sample(law, a[0]);
	} else if (!strcmp(verb, "ack")) {
		law_acknowledge(law, a[0], a[1], a[2]);
	} else if (!strcmp(verb, "lose")) {
		law_lose(law);
	} else if (!strcmp(verb, "expire")) {
		law_expire(law, a[0]);
	} else if (!strcmp(verb, "undo")) {
		law_undo(law);
	} else if (!strcmp(verb, "follow")) {
		law_follow(law, a[0], a[1]);
	} else if (!strcmp(verb, "dwnd")) {
		law->dwnd = a[0];
	} else if (!strcmp(verb, "agree")) {
		law->lwnd = a[0];
		law->dwnd = a[1];
		law->delay_on = a[2];
	} else {
		return 0;
	}
	return 1;
}

int main(void)
{
	struct law law;
	char line[128];

	memset(&law, 0, sizeof(law));
	while (fgets(line, sizeof(line), stdin)) {
		if (!take(&law, line)) {
			fprintf(stderr, "no event: %s", line);
			return 1;
		}
		printf("%llu %u %u %llu %u %u %u %u %u\n", law.lwnd, law.dwnd, law_swnd(&law), law.ssthresh, law.delay_on,
		       law.tau, law.rtt ? law_cap(&law, law.rtt) : 0, law.diff, law_in_slow_start(&law));
		fflush(stdout);
	}
	return 0;
}
